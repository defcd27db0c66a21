package report_test

import (
	"encoding/csv"
	"encoding/json"
	"math"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/tailscope/tailscope/buckets"
	"github.com/tailscope/tailscope/ingest"
	"github.com/tailscope/tailscope/internal/jsontype"
	"github.com/tailscope/tailscope/report"
)

// contract is the shape of the JSON document, written out: objects with
// exactly these keys, lists of one kind of item, and the types of leaves, with
// ? where null may stand.
var contract = func() object {
	five := object{"n": "int", "mean_ns": "int?", "min_ns": "int?", "max_ns": "int?", "quantiles": list1{object{"p": "decimal", "value_ns": "int"}}}
	bucket := five.with(object{"first": optional{five}, "retries": optional{five}})
	warnings := list1{object{"code": "string", "text": "string"}}
	return object{
		"schema_version": "int",
		"input": object{
			"files": list1{object{
				"path": "string", "format": "string", "compression": "string", "bytes": "int", "records": "int",
				"accepted": "int", "rejected": "int", "blank": "int", "filtered": "int", "complete": "bool", "fields": "strings", "preset": "string?",
				"wrapper": "string", "other_lines": "int",
			}},
			"records": "int", "accepted": "int", "rejected": "int", "blank": "int", "filtered": "int", "other_lines": "int",
			"traces": "int?", "spans": "int?", "duplicates_dropped": "int?",
			"time_basis": "string", "unit": "string", "truncation_marks": "string",
			"sampling": object{"kind": "string", "evidence": "string"},
			"rejects": list1{object{
				"reason": "string", "count": "int",
				"first": object{"file": "string", "line": "int", "offset": "int", "detail": "string"},
			}},
			"warnings": warnings,
		},
		"hops": list1{object{
			"hop": "string", "service": "string?", "operation": "string?", "kind": "string?",
			"attempts": "int", "first_attempts": "int", "retries": "int",
			"completed":  bucket,
			"truncated":  bucket.with(object{"cut_by": object{"own": "int", "below": "int", "caller": "int", "unknown": "int"}}),
			"failed":     bucket.with(object{"kinds": list1{object{"kind": "string", "n": "int"}}}),
			"unfinished": "int", "recorded": bucket,
			"truncated_share": object{"value": "number?", "lower": "number?", "upper": "number?", "confidence": "decimal", "design_effect": "number?", "n_eff": "int?"},
			"failed_share":    "number?",
			"walls":           list1{object{"timeout_ns": "int?", "source": "string", "n": "int", "from_ns": "int", "to_ns": "int"}},
			"tail": list1{object{
				"p": "decimal", "n": "int", "rank": "int", "status": "string", "value_ns": "int?", "at_most_ns": "int?", "clock_step_ns": "int",
				"lower_ns": "int?", "upper_ns": "int?", "km_ns": "int?", "confidence": "decimal", "reason": "string?",
				"estimate": optional{object{
					"value_ns": "int?", "bound_ns": "int?", "f": "number?", "xi": "number?", "a2": "number?", "condition": "string",
					"models": list1{object{"name": "string", "value_ns": "int?", "bound_ns": "int?"}},
					"gates":  list1{object{"gate": "int", "figure": "number?", "limit": "number", "passed": "bool"}},
				}},
				"server_side":   optional{object{"value_ns": "int?", "coverage": object{"n": "int", "of": "int"}, "selected_sample": "bool"}},
				"design_effect": "number?", "n_eff": "int",
			}},
			"warnings": warnings,
		}},
	}
}()

type (
	object   map[string]any
	list1    struct{ item any }
	optional struct{ item any }
)

func (o object) with(more object) object {
	all := object{}
	for k, v := range o {
		all[k] = v
	}
	for k, v := range more {
		all[k] = v
	}
	return all
}

func conforms(t *testing.T, path string, want, got any) {
	t.Helper()
	switch want := want.(type) {
	case object:
		members, ok := got.(map[string]any)
		if !ok {
			t.Errorf("%s is %T, not an object", path, got)
			return
		}
		if diff := cmp.Diff(sortedKeys(want), sortedKeys(members)); diff != "" {
			t.Errorf("keys of %s (-want +got):\n%s", path, diff)
		}
		for k, v := range members {
			conforms(t, path+"."+k, want[k], v)
		}
	case list1:
		items, ok := got.([]any)
		if !ok {
			t.Errorf("%s is %v, not a list", path, got)
		}
		for _, item := range items {
			conforms(t, path+"[]", want.item, item)
		}
	case optional:
		if got != nil {
			conforms(t, path, want.item, got)
		}
	case string:
		if !leaf(want, got) {
			t.Errorf("%s is %#v, want %s", path, got, want)
		}
	}
}

func leaf(want string, got any) bool {
	if kind, ok := strings.CutSuffix(want, "?"); ok {
		return got == nil || leaf(kind, got)
	}
	number, _ := got.(json.Number)
	text, isText := got.(string)
	switch want {
	case "int":
		_, err := number.Int64()
		return err == nil
	case "number":
		_, err := number.Float64()
		return err == nil
	case "string":
		return isText
	case "decimal":
		return isText && strings.Trim(text, "0123456789.") == "" && text != ""
	case "bool":
		return reflect.TypeOf(got) == reflect.TypeOf(true)
	case "strings":
		return reflect.TypeOf(got) == reflect.TypeOf(map[string]any{})
	}
	return want == "null" && got == nil
}

func sortedKeys[V any](m map[string]V) []string {
	var keys []string
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}

func decode(t *testing.T, r *run) map[string]any {
	t.Helper()
	d := json.NewDecoder(strings.NewReader(write(t, report.JSON, r, report.Options{})))
	d.UseNumber()
	var doc map[string]any
	if err := d.Decode(&doc); err != nil {
		t.Fatal(err)
	}
	return doc
}

func TestJSONKeepsTheContract(t *testing.T) {
	for _, w := range worlds {
		r := w.run()
		if r.Orphans != nil || r.Owner != nil || r.Retries != nil {
			continue // sections of their own, with tests of their own
		}
		t.Run(w.name, func(t *testing.T) { conforms(t, "", contract, decode(t, r)) })
	}
}

// The test of the contract would notice a key too many, a key too few and a
// null list.
func TestConformsNotices(t *testing.T) {
	for _, bad := range []any{
		map[string]any{"n": json.Number("1"), "m": 1}, map[string]any{}, map[string]any{"n": json.Number("1.5")},
	} {
		var probe testing.T
		conforms(&probe, "", object{"n": "int"}, bad)
		if !probe.Failed() {
			t.Errorf("%v passed", bad)
		}
	}
	var probe testing.T
	conforms(&probe, "", list1{"int"}, nil)
	if !probe.Failed() {
		t.Error("a null list passed")
	}
}

func TestJSONSectionNotAskedForIsAbsent(t *testing.T) {
	doc := decode(t, &run{})
	if _, ok := doc["hops"]; ok {
		t.Error("hops that were not asked for are in the document")
	}
	doc = decode(t, &run{Hops: []buckets.Result{}})
	if hops, ok := doc["hops"].([]any); !ok || len(hops) != 0 {
		t.Errorf("hops that were asked for are %v, want an empty list", doc["hops"])
	}
}

func TestJSONEmptyBucket(t *testing.T) {
	hop := decode(t, nothing())["hops"].([]any)[0].(map[string]any)
	want := map[string]any{"n": json.Number("0"), "mean_ns": nil, "min_ns": nil, "max_ns": nil, "quantiles": []any{}, "first": nil, "retries": nil}
	if diff := cmp.Diff(want, hop["completed"]); diff != "" {
		t.Errorf("completed (-want +got):\n%s", diff)
	}
	share := map[string]any{"value": nil, "lower": nil, "upper": nil, "confidence": "0.95", "design_effect": nil, "n_eff": nil}
	if diff := cmp.Diff(share, hop["truncated_share"]); diff != "" {
		t.Errorf("truncated_share (-want +got):\n%s", diff)
	}
}

// A division by zero elsewhere must not cost the night its whole document.
func TestNotANumber(t *testing.T) {
	r := simple()
	r.Hops[0].FailedShare = jsontype.Number(math.NaN())
	if got := decode(t, r)["hops"].([]any)[0].(map[string]any)["failed_share"]; got != nil {
		t.Errorf("JSON: failed_share = %v, want null", got)
	}
	if got := records(t, r)[1]["failed_share"]; got != "" {
		t.Errorf("CSV: failed_share = %q, want it empty", got)
	}
}

// records are the rows of the CSV by column name; row 0 is the header.
func records(t *testing.T, r *run) []map[string]string {
	t.Helper()
	rows, err := csv.NewReader(strings.NewReader(write(t, report.CSV, r, report.Options{}))).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	out := make([]map[string]string, len(rows))
	for i, row := range rows {
		out[i] = map[string]string{}
		for j, name := range rows[0] {
			out[i][name] = row[j]
		}
	}
	return out
}

func TestCSVRow(t *testing.T) {
	rows := records(t, configured())
	if len(rows) != 1+len(fivePs) {
		t.Fatalf("%d rows, want a header and one a quantile", len(rows))
	}
	want := map[string]string{
		"hop": "generate", "service": "", "operation": "", "kind": "", "attempts": "200", "first_attempts": "200", "retries": "0",
		"completed_n": "167", "truncated_n": "33", "failed_n": "0", "unfinished": "0",
		"truncated_share": "0.165", "truncated_share_lower": "0.12328", "truncated_share_upper": "0.21435", "failed_share": "0",
		"p": "0.95", "n": "200", "rank": "190", "status": "at_least", "value_ns": "5000000000", "lower_ns": "", "upper_ns": "", "km_ns": "",
		"confidence": "0.95", "completed_quantile_ns": "1757000000", "truncated_quantile_ns": "5763000000", "recorded_quantile_ns": "5737000000",
		"reason": configured().Hops[0].Tail[2].Reason, "warnings": "",
		"estimate_ns": "", "estimate_bound_ns": "", "estimate_failed_gates": "",
		"design_effect": "", "n_eff": "200", "at_most_ns": "", "clock_step_ns": "0",
	}
	if diff := cmp.Diff(want, rows[3]); diff != "" {
		t.Errorf("p95 (-want +got):\n%s", diff)
	}
}

func TestCSVNoValueIsEmpty(t *testing.T) {
	for _, row := range records(t, allCut())[1:] {
		if row["status"] != "no_value" || row["value_ns"] != "" || row["completed_quantile_ns"] != "" {
			t.Errorf("row %v has a value", row)
		}
	}
}

func TestFilesWithoutFields(t *testing.T) {
	r := &run{Input: ingest.Summary{Files: []ingest.FileSummary{{Path: "-"}}}}
	if !strings.Contains(write(t, report.JSON, r, report.Options{}), `"fields": {}`) {
		t.Error("fields that are not known are not an empty object")
	}
}

func TestLookup(t *testing.T) {
	for _, f := range report.Formats {
		if got, err := report.Lookup(f.Name); err != nil || got == nil {
			t.Errorf("Lookup(%q) = %v", f.Name, err)
		}
	}
	_, err := report.Lookup("yaml")
	if err == nil || err.Error() != `unknown format "yaml": choose one of text, json, csv, md` {
		t.Errorf("Lookup(yaml) = %v", err)
	}
}
