package outcome_test

import (
	"fmt"

	"github.com/tailscope/tailscope/ingest/field"
	"github.com/tailscope/tailscope/ingest/outcome"
	"github.com/tailscope/tailscope/internal/jsonscan"
	"github.com/tailscope/tailscope/spans"
)

func ExampleSet_Judge() {
	rules, _ := outcome.NewSet(outcome.Config{})
	var record field.Record
	status := field.Key{Path: "http.status_code", Uses: []field.Use{{Role: field.HTTPStatus}}}
	record.Note(&status, jsonscan.Number, []byte("504"))
	verdict, _ := rules.Judge(&record, spans.Client)
	fmt.Println(verdict.Outcome, verdict.CutBy, verdict.Rule)
	// Output: truncated below http-504
}
