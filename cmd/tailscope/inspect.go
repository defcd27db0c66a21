package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"
	"github.com/tailscope/tailscope/ingest"
	"github.com/tailscope/tailscope/internal/note"
	"github.com/tailscope/tailscope/report"
)

var inspectCommand = cobra.Command{
	Use:   "inspect [FILE…]",
	Short: "How each file is understood, before any run: format, keys and their roles, units, marks",
	Long: `inspect reads the first records of each file as a run would and says how it
understood them: the format, what the records lie in, the preset, each key with
its role or that it is not used, units, how attempts ended and by which rules as
cut, the time basis and the span of time, and three attempts. Of a file that
cannot be read it says what is nearest.

All flags by which a run reads its input hold here too.`,
	Example: `  tailscope inspect access.log
  tailscope inspect --format json --records 1000 hops.ndjson.gz`,
}

// newInspect is the command that shows how inputs are read.
func newInspect(s streams) *cobra.Command {
	cmd := inspectCommand
	o := &options{streams: s, analyses: choose()}
	o.declare(cmd.Flags())
	records := cmd.Flags().Int64("records", 100_000, "most records of a file to look at, about")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if *records < 1 {
			return usageError{fmt.Errorf("--records %d: at least 1", *records)}
		}
		return o.inspect(cmd.Context(), args, *records)
	}
	return &cmd
}

func (o *options) inspect(ctx context.Context, args []string, records int64) error {
	p, err := o.plan(args)
	if err != nil {
		return err
	}
	out, err := p.outputs().Create(p.output)
	if err != nil {
		return err
	}
	defer out.Cleanup()
	var files []*ingest.Inspection
	unread := 0
	for _, src := range p.sources {
		f, err := ingest.Inspect(src, p.ingest, records, o.streams.memory)
		if err := errors.Join(err, context.Cause(ctx)); err != nil {
			return err
		}
		if f.Error != "" {
			unread++
		}
		files = append(files, f)
	}
	page := &report.Report{Sections: []report.Section{ingest.InspectionSection(files)}}
	if err := errors.Join(p.write(out, page, p.textOptions()), out.Sync()); err != nil {
		return err
	}
	if err := out.Replace(); err != nil {
		return err
	}
	if unread > 0 {
		return fmt.Errorf("%s cannot be read: see above", note.Count(unread, "file"))
	}
	return nil
}
