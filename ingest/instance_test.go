package ingest

import (
	"strings"
	"testing"
)

func TestALineNamesItsInstance(t *testing.T) {
	for _, c := range []struct {
		fields []string
		in     string
		want   string
	}{
		{nil, `{"hop":"a","duration_ms":1,"pod":"a-7"}`, "a-7"},
		{nil, `{"hop":"a","duration_ms":1,"Pod":" a-7 "}`, "a-7"},
		{nil, `{"hop":"a","duration_ms":1,"instance_id":0}`, "0"},
		{nil, `{"hop":"a","duration_ms":1,"hostname":"n-1","pod":"a-7"}`, "a-7"},
		{nil, `{"hop":"a","duration_ms":1,"hostname":"n-1","pod":""}`, "n-1"},
		{nil, `{"hop":"a","duration_ms":1,"hostname":"n-1","pod":null}`, "n-1"},
		{nil, `{"hop":"a","duration_ms":1,"hostname":"n-1","pod":{"uid":7}}`, "n-1"},
		{nil, `{"hop":"a","duration_ms":1,"kubernetes":{"pod_name":"a-7","labels":{}}}`, "a-7"},
		{nil, `{"hop":"a","duration_ms":1,"service.instance.id":"a-7"}`, "a-7"},
		{nil, `{"hop":"a","duration_ms":1,"upstream_addr":"10.0.0.7:80"}`, "10.0.0.7:80"},
		{nil, `{"hop":"a","duration_ms":1,"upstream_addr":"-"}`, ""},
		{nil, `{"hop":"a","duration_ms":1,"pod":"unknown"}`, ""},
		{nil, `{"hop":"a","duration_ms":1,"pod":"N/A"}`, ""},
		{nil, `{"hop":"a","duration_ms":1,"pod":true}`, ""},
		{nil, `{"hop":"a","duration_ms":1,"pod":["a-7"]}`, ""},
		{nil, `{"hop":"a","duration_ms":1,"host":"shop.example.com"}`, ""},
		{nil, `{"hop":"a","duration_ms":1,"peer":"b"}`, ""},
		{[]string{"instance=host"}, `{"hop":"a","duration_ms":1,"host":"n-1","pod":"a-7"}`, "n-1"},
		{[]string{"instance=host"}, `{"hop":"a","duration_ms":1,"pod":"a-7"}`, ""},
		{[]string{"instance=to.addr", "instance=to"}, `{"hop":"a","duration_ms":1,"to":{"addr":"x:1"}}`, "x:1"},
		{[]string{"span=span", "parent=parent"}, `{"hop":"a","duration_ms":1,"trace_id":"1","span":"2","pod":"a-7"}`, "a-7"},
		{[]string{"hop=pod"}, `{"hop":"a","duration_ms":1,"pod":"a-7"}`, ""},
		{nil, "hop,duration_ms,pod\na,1,a-7\n", "a-7"},
		{nil, "hop,duration_ms,pod,node\na,1,,n-1\n", "n-1"},
		{nil, "hop\tduration_ms\tinstance\na\t1\t-\n", ""},
	} {
		same(t, strings.Join(c.fields, " ")+c.in, one(t, how{fields: c.fields}, c.in).Instance, c.want)
	}
}

func TestACallNamesItsPeer(t *testing.T) {
	for _, c := range []struct{ kind, tags, want string }{
		{"client", "peer.address=10.0.0.7:80", "10.0.0.7:80"},
		{"client", "net.peer.ip=10.0.0.7 net.peer.port=80 net.peer.name=api", "10.0.0.7"},
		{"client", "net.peer.name=api", "api"},
		{"client", "server.address=api network.peer.address=10.0.0.7", "10.0.0.7"},
		{"client", "server.address=api", "api"},
		{"client", "peer.hostname=n-1 peer.service=api", "n-1"},
		{"client", "peer.ipv4=167772167", "167772167"},
		{"client", "peer.service=api", ""},
		{"client", "net.peer.ip=- ", ""},
		{"producer", "net.peer.name=kafka-1", "kafka-1"},
		{"server", "net.peer.ip=10.0.0.7", ""},
		{"server", "server.address=api", ""},
		{"consumer", "net.peer.ip=10.0.0.7", ""},
		{"internal", "net.peer.ip=10.0.0.7", ""},
		{"client", "peer.address=10.0.0.1 response_flags=-", ""},
		{"client", "peer.address=10.0.0.1 response_flags=- upstream_address=10.0.0.7:80", "10.0.0.7:80"},
		{"client", "net.peer.name=api response_flags=-", "api"},
	} {
		ui, otlp := tagsIn(c.kind, strings.Fields(c.tags)...)
		for _, in := range []string{ui, otlp} {
			same(t, in, oneSpan(t, traceHow{}, in).Peer, c.want)
		}
	}
}

// A server's span names the instance that it ran in, which may be one of several on a
// host.
func TestAServerNamesItsOwnInstance(t *testing.T) {
	for _, c := range []struct{ kind, tags, host, want string }{
		{"server", `{"key":"host.name","value":"n"},{"key":"service.instance.id","value":"i"},{"key":"k8s.pod.name","value":"p"}`, "n", "i"},
		{"server", `{"key":"k8s.node.name","value":"n"},{"key":"k8s.pod.name","value":"p"}`, "n", "p"},
		{"consumer", `{"key":"ip","value":"1.2.3.4"},{"key":"hostname","value":"h"}`, "h", "h"},
		{"server", `{"key":"k8s.node.name","value":"n"}`, "n", "n"},
		{"server", ``, "", ""},
		{"client", `{"key":"hostname","value":"h"}`, "h", ""},
	} {
		in := `{"data":[{"traceID":"1","spans":[{"traceID":"1","spanID":"2","operationName":"o","startTime":1700000000000000,"duration":5,"tags":[{"key":"span.kind","value":"` + c.kind + `"}],"processID":"p"}],"processes":{"p":{"serviceName":"s","tags":[` + c.tags + `]}}}]}`
		row := oneSpan(t, traceHow{}, in)
		same(t, in, row.Host+" "+row.Peer, c.host+" "+c.want)
	}
}
