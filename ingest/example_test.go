package ingest_test

import (
	"fmt"
	"strings"
	"sync/atomic"

	"github.com/apache/arrow/go/v15/arrow/memory"

	"github.com/tailscope/tailscope/ingest"
	"github.com/tailscope/tailscope/ingest/field"
	"github.com/tailscope/tailscope/ingest/outcome"
	"github.com/tailscope/tailscope/internal/moment"
	"github.com/tailscope/tailscope/spans"
)

func ExampleDecoder() {
	log := `{"hop":"checkout","duration_ms":12,"status":200}` + "\n" + `{"hop":"checkout"}` + "\n"
	settings, _ := ingest.NewSettings(field.Config{Unit: moment.NoUnitGiven, FirstAttempt: -1}, outcome.Config{})
	config := ingest.Config{Fields: settings}
	file, err := ingest.Open(ingest.Source{Path: "-", Stdin: strings.NewReader(log)}, config, new(atomic.Int64))
	if err != nil {
		fmt.Println(err)
		return
	}
	defer file.Close()

	decoder, ledger := ingest.NewDecoder(config, memory.DefaultAllocator, 0, false), ingest.NewLedger()
	defer decoder.Release()
	count := func(b *spans.Batch) {
		fmt.Println(b.Len(), "attempt")
		b.Release()
	}
	for {
		chunk, err := file.Next()
		if err != nil {
			break
		}
		_ = ledger.Add(decoder.Decode(chunk, count)) // which checks that no record is lost
	}
	decoder.Flush(count)
	s := ledger.Summary(false)
	fmt.Println(s.Accepted, "accepted,", s.Rejected, "rejected:", s.Rejects[0].Reason)
	// Output:
	// 1 attempt
	// 1 accepted, 1 rejected: no_duration
}
