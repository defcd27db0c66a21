package main

import (
	"encoding/csv"
	"encoding/json"
	"io"
	"slices"
	"strconv"
)

// each decodes one JSON value after the other.
func each[T any](in io.Reader, do func(T)) error {
	values := json.NewDecoder(in)
	for {
		var v T
		if err := values.Decode(&v); err == io.EOF {
			return nil
		} else if err != nil {
			return err
		}
		do(v)
	}
}

type line struct {
	Hop       string
	Truncated bool
	US        int64 `json:"duration_us"`
	NS        int64 `json:"duration_ns"`
}

func readLog(in io.Reader, b buckets) error {
	return each(in, func(l line) { b.add(l.Hop, "", l.Truncated, l.US*1000+l.NS) })
}

func readTable(in io.Reader, b buckets) error {
	rows, err := csv.NewReader(in).ReadAll()
	if err != nil {
		return err
	}
	column := func(name string) int { return slices.Index(rows[0], name) }
	at, scale := column("duration_ns"), int64(1)
	if at < 0 {
		at, scale = column("duration_us"), 1000
	}
	for _, row := range rows[1:] {
		ns, err := strconv.ParseInt(row[at], 10, 64)
		if err != nil {
			return err
		}
		b.add(row[column("hop")], "", row[column("truncated")] == "true", ns*scale)
	}
	return nil
}

type document struct {
	Data []struct {
		Spans []struct {
			OperationName, ProcessID string
			Duration                 int64
			Tags                     []struct {
				Key   string
				Value any
			}
		}
		Processes map[string]struct{ ServiceName string }
	}
}

func readJaeger(in io.Reader, b buckets) error {
	return each(in, func(d document) {
		for _, t := range d.Data {
			for _, s := range t.Spans {
				tags := map[string]any{}
				for _, tag := range s.Tags {
					tags[tag.Key] = tag.Value
				}
				kind, _ := tags["span.kind"].(string)
				b.add(t.Processes[s.ProcessID].ServiceName+" "+s.OperationName, kind, tags["error.type"] == "timeout", s.Duration*1000)
			}
		}
	})
}

type attributes []struct {
	Key   string
	Value struct{ StringValue string }
}

func (a attributes) of(key string) string {
	for _, one := range a {
		if one.Key == key {
			return one.Value.StringValue
		}
	}
	return ""
}

type export struct {
	ResourceSpans []struct {
		Resource   struct{ Attributes attributes }
		ScopeSpans []struct {
			Spans []struct {
				Name       string
				Kind       int
				Start      int64 `json:"startTimeUnixNano,string"`
				End        int64 `json:"endTimeUnixNano,string"`
				Attributes attributes
			}
		}
	}
}

func readOTLP(in io.Reader, b buckets) error {
	kinds := map[int]string{2: "server", 3: "client"}
	return each(in, func(e export) {
		for _, r := range e.ResourceSpans {
			for _, scope := range r.ScopeSpans {
				for _, s := range scope.Spans {
					b.add(r.Resource.Attributes.of("service.name")+" "+s.Name, kinds[s.Kind], s.Attributes.of("error.type") == "timeout", s.End-s.Start)
				}
			}
		}
	})
}
