package ingest

import (
	"bytes"

	"github.com/tailscope/tailscope/spans"
)

// The instance of an attempt is the pod, host or address that it went to. For a
// span of a trace it is the peer that the caller names; what a process says of
// itself is its host.

// peerAddress is a tag that Envoy, unlike all others, gives the address of the
// caller: what sent the request to the proxy.
const peerAddress = "peer.address"

// peer returns the instance that a span calls, nil where it calls none or does not
// tell. The peer of a server or a consumer is its caller.
func (r *spanReader) peer() []byte {
	if k := r.has.kind; k != spans.Client && k != spans.Producer {
		return nil
	}
	v := r.rec.get(InstanceKey)
	if v.empty() || v.key.path == peerAddress && !r.rec.get(ResponseFlags).empty() {
		return nil
	}
	return instanceOf(v.kind, v.raw)
}

// instanceOf returns an instance's name, nil for what loggers write where they have
// none.
func instanceOf(kind valueKind, raw []byte) []byte {
	name := bytes.TrimSpace(raw)
	if kind != text && kind != number || len(bytes.Trim(name, "-")) == 0 || !hasDigit(name) && meansNothing(name) {
		return nil
	}
	return name
}

// instance returns the index of an instance, 0 where there is none or nobody asked.
func (o *output) instance(b *spans.Builder, name []byte) int32 {
	if len(name) == 0 || !b.Columns().Has(spans.Instances) {
		return 0
	}
	return b.Instance(name)
}

func (o *output) peer(name []byte) int32 { return o.instance(o.spans, name) }

// instance returns the instance that a record of a hop log names, nil if none.
func (r *record) instance() []byte {
	v := r.get(InstanceKey)
	return instanceOf(v.kind, v.raw)
}

// oneInstance passes over all fields for the instance but the best: records often
// name a pod, a host and a node. It is false where two are as good.
func (p *plain) oneInstance(keys []*keyInfo) bool {
	best, rank := -1, uint16(0)
	for i, key := range keys {
		if len(key.uses) != 1 || key.uses[0].role != InstanceKey {
			continue
		}
		here := key.uses[0].rank
		if best >= 0 && here == rank {
			return false
		}
		p.others = best >= 0
		worse := i
		if best < 0 || here < rank {
			worse, best, rank = best, i, here
		}
		if worse >= 0 {
			p.fields[worse].part = passed
		}
	}
	return true
}
