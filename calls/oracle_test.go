package calls

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/tailscope/tailscope/internal/racing"
	"github.com/tailscope/tailscope/spans"
)

// oracleProgram is a slow form of the rules in floats, where it is there.
const oracleProgram = "../../shared/oracle/verdict.py"

// told is what it says of a call.
type told struct {
	Verdict string
	Figures struct {
		N       int     `json:"n"`
		Pairs   int     `json:"pairs"`
		GapP50  int64   `json:"gap_p50"` // us
		WorkP50 int64   `json:"work_p50"`
		Size    int     `json:"size"`
		Busy    float64 `json:"utilisation"`
		Side    string  `json:"side"`
	}
}

// askOracle runs the slow form on traces in Jaeger's JSON.
func askOracle(t *testing.T, file string) map[string]told {
	t.Helper()
	const script = `import sys,json; sys.path.insert(0,sys.argv[1]); import verdict; print(json.dumps({k:{"Verdict":v,"Figures":{x:y for x,y in F.items() if x in ("n","pairs","gap_p50","work_p50","size","utilisation","side")}} for k,(v,F) in verdict.verdicts(sys.argv[2]).items()}))`
	cmd := exec.Command("python3", "-c", script, filepath.Dir(oracleProgram), file)
	cmd.Stderr = os.Stderr
	cmd.Env = append(os.Environ(), "PYTHONDONTWRITEBYTECODE=1")
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	var all map[string]told
	if err := json.Unmarshal(out, &all); err != nil {
		t.Fatal(err)
	}
	return all
}

// writeJaeger writes traces as Jaeger's UI gives them.
func writeJaeger(t *testing.T, path string, traces []*spans.Trace) {
	t.Helper()
	type object map[string]any
	type tags []object
	var data []object
	for _, trace := range traces {
		id := trace.ID.String()
		var list []object
		processes := object{}
		for i := range trace.Spans {
			s := &trace.Spans[i]
			h := trace.HopOf(int32(i))
			process := fmt.Sprintf("%s/%d", h.Service, s.Host)
			processes[process] = object{"serviceName": h.Service, "tags": tags{{"key": "hostname", "value": trace.Hosts[s.Host]}}}
			one := object{"traceID": id, "spanID": s.ID.String(), "operationName": h.Operation, "startTime": s.Start / 1000, "duration": s.Duration / 1000, "processID": process}
			of := tags{{"key": "span.kind", "value": h.Kind.String()}}
			if s.Outcome == spans.Truncated {
				of = append(of, object{"key": "error.type", "value": "timeout"})
			}
			if s.Parent != 0 {
				one["references"] = tags{{"refType": "CHILD_OF", "traceID": id, "spanID": s.Parent.String()}}
			}
			one["tags"] = of
			list = append(list, one)
		}
		data = append(data, object{"traceID": id, "spans": list, "processes": processes})
	}
	text, err := json.Marshal(object{"data": data})
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, text, 0o600); err != nil {
		t.Fatal(err)
	}
}

// TestTheSlowFormOfTheRulesSaysTheSame holds verdicts and figures against those of a
// program that goes over all calls for each. It takes some calls for not cut that are, and
// ranks values one by one, so that of verdicts near a limit a few differ; none may
// contradict another.
func TestTheSlowFormOfTheRulesSaysTheSame(t *testing.T) {
	if _, err := os.Stat(oracleProgram); err != nil {
		t.Skip("the slow form of the rules is not there: ", oracleProgram)
	}
	if _, err := exec.LookPath("python3"); err != nil {
		t.Skip("there is no python3")
	}
	kinds := kindsOfWorlds()
	if testing.Short() || racing.Enabled {
		kinds = kinds[len(kinds)-6:]
	}
	file := filepath.Join(t.TempDir(), "traces.json")
	differ := 0
	for i, k := range kinds {
		w := k.draw(rand.New(rand.NewPCG(uint64(100+i), 7)))
		traces := w.traces(w.run())
		for _, trace := range traces {
			trace.MarkRetries(spans.RetryOptions{})
		}
		writeJaeger(t, file, traces)
		want := askOracle(t, file)["front call back"]
		r := resultOf(t, traces, 2, Config{}, Query{})
		p := &r.Pairs[0]
		if int(p.N) != want.Figures.Pairs || int(p.Calls) != want.Figures.N {
			t.Errorf("%s: %d of %d calls have a server's span, want %d of %d", k.name, p.N, p.Calls, want.Figures.Pairs, want.Figures.N)
		}
		if string(p.Verdict) != want.Verdict {
			differ++
			t.Logf("%s: %s (%s), the slow form says %s", k.name, p.Verdict, p.Figures.Reason, want.Verdict)
			if p.Verdict != Unknown && want.Verdict != string(Unknown) {
				t.Errorf("%s: %s, the slow form says %s", k.name, p.Verdict, want.Verdict)
			}
			continue
		}
		if got := p.Figures.WorkP50 / 1000; want.Figures.WorkP50 != 0 && got != want.Figures.WorkP50 {
			t.Errorf("%s: median work %d us, want %d", k.name, got, want.Figures.WorkP50)
		}
		if got := p.Figures.GapP50 / 1000; p.Cut == 0 && want.Figures.GapP50 != 0 && got != want.Figures.GapP50 {
			t.Errorf("%s: median gap %d us, want %d", k.name, got, want.Figures.GapP50)
		}
		if f := &p.Figures; f.Size != nil && p.Cut == 0 && (*f.Size != want.Figures.Size || string(p.Side) != want.Figures.Side || *f.Utilisation < want.Figures.Busy-.001 || *f.Utilisation > want.Figures.Busy+.001) {
			t.Errorf("%s: pool of %d, %.3f busy, side %s; want %+v", k.name, *f.Size, *f.Utilisation, p.Side, want.Figures)
		}
	}
	if 20*differ > len(kinds) {
		t.Errorf("%d of %d verdicts differ", differ, len(kinds))
	}
}
