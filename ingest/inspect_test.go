package ingest

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/apache/arrow/go/v15/arrow/memory"
	"github.com/tailscope/tailscope/ingest/preset"
)

func inspected(t *testing.T, h how, src Source, most int64) *Inspection {
	t.Helper()
	mem := memory.NewCheckedAllocator(memory.DefaultAllocator)
	defer mem.AssertSize(t, 0)
	r, err := Inspect(src, h.config(t), most, mem)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// TestEveryPresetIsInspectedAsItIsRead: what counts in a run is what is shown before.
func TestEveryPresetIsInspectedAsItIsRead(t *testing.T) {
	for _, p := range preset.Table {
		files, err := filepath.Glob(filepath.Join("testdata", "preset", p.Name+".*"))
		if err != nil || len(files) == 0 {
			t.Fatal(p.Name, err)
		}
		d := decodeSource(t, how{}, Source{Path: files[0]})
		r := inspected(t, how{}, Source{Path: files[0]}, 1000)
		same(t, p.Name, string(r.Preset), p.Name)
		same(t, p.Name, r.Accepted, d.summary.Accepted)
		ended := map[string]int64{}
		for _, h := range r.Outcomes {
			how, _, _ := strings.Cut(h.Outcome, " ")
			ended[how] += h.N
		}
		for _, row := range d.rows {
			how, _, _ := strings.Cut(row.End, " ")
			ended[how]--
		}
		var cut int64
		for _, m := range r.Marks {
			cut += m.N
		}
		for _, row := range d.rows {
			if strings.HasPrefix(row.End, "truncated") {
				cut--
			}
		}
		for how, n := range ended {
			same(t, p.Name+" "+how, n, 0)
		}
		same(t, p.Name+": cuts by rules", cut, 0)
		same(t, p.Name+": samples", len(r.Samples), min(mostSamples, len(d.rows)))
	}
}

func TestInspectionStopsAfterTheRecordsAskedFor(t *testing.T) {
	in := strings.Repeat(rowA, 1000)
	r := inspected(t, how{chunk: 100}, Source{Path: "in", Stdin: strings.NewReader(in)}, 50)
	if r.Whole || r.Records < 50 || r.Records > 60 {
		t.Errorf("whole %v, %d records", r.Whole, r.Records)
	}
	r = inspected(t, how{chunk: 100}, Source{Path: "in", Stdin: strings.NewReader(in)}, 5000)
	if !r.Whole || r.Records != 1000 || *r.Keys[0].Records != 1000 {
		t.Errorf("whole %v, %d records, %d of %s", r.Whole, r.Records, *r.Keys[0].Records, r.Keys[0].Key)
	}
}

func TestKeysLookLikeRoles(t *testing.T) {
	for _, c := range []struct{ key, example, want string }{
		{"took_total", "12", "duration"}, {"took_total", "GET", ""}, {"a.responseTime", "12", "duration"}, {"callTimeout", "12", "timeout"},
		{"retry_no", "1", "retry"}, {"x-correlation-id", "a", "trace"}, {"svc", "a", "hop"}, {"color", "red", ""}, {"exceptionClass", "X", "error"},
	} {
		same(t, c.key+" "+c.example, looksLike(c.key, c.example), c.want)
	}
}

func TestWhatIsNearestIsNamed(t *testing.T) {
	for in, want := range map[string]string{
		"": "", "words only\n": "", "{\"svc\":\"a\",\"took_total\":1}\n": "1 of the first 1 lines are JSON objects; what looks like a hop: svc, as in --field hop=svc; what looks like a duration: took_total, as in --field duration=took_total:UNIT",
		"svc;took_total\na;1\n": "the first line has 2 columns; what looks like a hop: svc, as in --field hop=svc; what looks like a duration: took_total, as in --field duration=took_total:UNIT",
	} {
		same(t, in, nearestTo([]byte(in)), want)
	}
}

// FuzzNearest: whatever a file holds, saying what is nearest neither fails nor takes long
// names over.
func FuzzNearest(f *testing.F) {
	for _, in := range []string{"{", `{"a":{"b":[1,{"took":2}]},"svc":"x"}`, "a,b\n1,2", "{\"\xff\":1}", `{"a":{"a":{"a":{"a":{"a":{"a":{"a":{"a":1}}}}}}}}`} {
		f.Add([]byte(in))
	}
	f.Fuzz(func(t *testing.T, in []byte) {
		nearestTo(in)
		k := keyCounts{}
		k.add(in)
		if len(k) > mostKeys {
			t.Errorf("%d keys", len(k))
		}
	})
}
