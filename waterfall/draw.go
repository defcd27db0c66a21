package waterfall

import (
	"fmt"
	"slices"
	"strings"

	"github.com/tailscope/tailscope/internal/brief"
	"github.com/tailscope/tailscope/internal/durations"
	"github.com/tailscope/tailscope/internal/note"
	"github.com/tailscope/tailscope/orphans"
	"github.com/tailscope/tailscope/report"
	"github.com/tailscope/tailscope/spans"
)

const (
	usualWidth = 100 // of a page that says nothing
	leastBar   = 12
	figures    = 6 // columns of a time
	wide       = 96
	gap        = "  "
)

// drawing is a request on a page of some width.
type drawing struct {
	*tree
	look              report.Options
	scale             brief.Scale
	from, to          int64 // of the axis, offsets
	name, bar, ending int   // columns
	waits             bool  // the column is there
	used              [states]bool
	marks, passed     bool // gaveUpGlyph, and what a call below passed up, are there

	nobody []int64 // by node: from when on it runs for nobody, an offset; -1 for never
}

// lines draws a request with at most so many spans or calls, 0 for all.
func (r *Result) lines(o report.Options, most int) []string {
	width := o.Width
	if width <= 0 {
		width = usualWidth
	}
	t := newTree(r)
	drawn := t.choose(most)
	d := &drawing{tree: t, look: o, to: r.To - r.From}
	rows := t.rows(drawn)
	d.measure(rows, width)
	d.findNobody()
	lines := []string{d.axis()}
	for i := range rows {
		lines = append(lines, d.line(&rows[i]))
	}
	lines = append(lines, d.legend(width)...)
	if n := d.hidden(drawn); n > 0 {
		lines = append(lines, fmt.Sprintf("  %d of %s folded: --top all draws all.", n, note.Count(len(r.Spans), "span")+note.Form(n, " is", " are")))
	}
	return lines
}

// hidden is how many spans have no row.
func (d *drawing) hidden(drawn []bool) (n int) {
	for i, is := range drawn {
		if !is {
			n += 1 + count(d.Spans[d.nodes[i].span].server >= 0)
		}
	}
	return n
}

// measure says how wide each column is, and what the axis shows.
func (d *drawing) measure(rows []row, width int) {
	var times []int64
	for i := range rows {
		s := &d.Spans[d.nodes[rows[i].node].span]
		if s.Duration != nil && rows[i].folded == nil {
			times = append(times, *s.Duration)
		}
		d.waits = d.waits || s.Wait != nil && width >= wide
	}
	d.scale = brief.ScaleOf(times)
	for i := range rows {
		d.name, d.ending = max(d.name, report.Columns(d.label(&rows[i]))), max(d.ending, report.Columns(d.ended(&rows[i])))
	}
	if !d.Timed {
		d.to = slices.Max(append(times, 1))
	}
	fixed := 2*len(gap) + figures + len(gap)
	if d.waits {
		fixed += figures + len(gap)
	}
	d.name = max(min(d.name, max(16, width*3/10)), len("call"))
	d.ending = max(min(d.ending, max(12, width/4)), len("ended"))
	d.bar = max(leastBar, width-fixed-d.name-len(gap)-d.ending)
}

// axis is the line of the heads, with times over the bars.
func (d *drawing) axis() string {
	step := niceStep((d.to - d.from) * 10 / int64(max(d.bar, 1)))
	line, used := "", 0
	b := newBar(d.from, d.to, d.bar)
	for at := int64(0); at <= d.to; at += step {
		text := durations.In(at, unitOf(d.scale))
		if at == 0 {
			text = "0 " + d.scale.Unit()
		}
		column := b.column(at)
		if column < used || column+report.Columns(text) > d.bar {
			continue
		}
		line += strings.Repeat(" ", column-used) + text + " "
		used = column + report.Columns(text) + 1
		if at > d.to-step { // before it overflows
			break
		}
	}
	head := gap + report.Fitted("call", d.name) + gap + report.Fitted(strings.TrimRight(line, " "), d.bar) + gap + right("took")
	if d.waits {
		head += gap + right("wait")
	}
	return strings.TrimRight(head+gap+"ended", " ")
}

// niceStep is 1, 2 or 5 times a power of ten, and no less than so many ns.
func niceStep(least int64) int64 {
	for power := int64(1); power < 1e18; power *= 10 {
		for _, m := range []int64{1, 2, 5} {
			if m*power >= least {
				return m * power
			}
		}
	}
	return 5e18
}

func right(s string) string { return strings.Repeat(" ", max(0, figures-report.Columns(s))) + s }

// line draws one row.
func (d *drawing) line(r *row) string {
	text := gap + report.Fitted(d.label(r), d.name) + gap
	if r.folded != nil {
		b := newBar(d.from, d.to, d.bar)
		start := d.fold(b, r.folded)
		return strings.TrimRight(text+b.text(start, -1), " ")
	}
	s := &d.Spans[d.nodes[r.node].span]
	took, wait := report.Dash, ""
	if s.Duration != nil {
		took = figure(*s.Duration, d.scale)
	}
	if s.Wait != nil {
		wait = figure(*s.Wait, d.scale)
	}
	text += d.barOf(r.node) + gap + right(took)
	if d.waits {
		text += gap + right(wait)
	}
	ended := strings.TrimRight(report.Fitted(d.ended(r), d.ending), " ")
	if s.Outcome == spans.Truncated || s.Outcome == spans.Failed {
		ended = d.look.Wrong(ended)
	}
	return strings.TrimRight(text+gap+ended, " ")
}

// fold draws where any of some nodes ran, and returns the first start.
func (d *drawing) fold(b *bar, nodes []int32) (first int64) {
	first = d.to
	var all []stretch
	for _, i := range nodes {
		if from, to, known := d.span(i); known {
			all = append(all, stretch{from, to})
			first = min(first, from)
		}
	}
	for _, one := range union(all) {
		b.add(folded, one.from, max(one.to, one.from+1))
	}
	d.used[folded] = true
	return first
}

// span is when a node ran, from its start to its end or that of what serves it.
func (d *drawing) span(i int32) (from, to int64, known bool) {
	s := &d.Spans[d.nodes[i].span]
	switch {
	case s.Duration == nil:
		return 0, 0, false
	case !d.Timed:
		return 0, *s.Duration, true
	case s.Start == nil:
		return 0, 0, false
	}
	to = s.end()
	if s.server >= 0 {
		to = max(to, d.Spans[s.server].end())
	}
	return *s.Start, to, true
}

// findNobody finds from when on each node runs for nobody: when the one above it had
// given up, or one above that.
func (d *drawing) findNobody() {
	d.nobody = make([]int64, len(d.nodes))
	for i := range d.nodes {
		n := &d.nodes[i]
		d.nobody[i] = -1
		if n.parent >= 0 && !d.Spans[n.span].Async {
			d.nobody[i] = d.nobody[n.parent]
		}
		s := &d.Spans[n.span]
		if s.Orphan != nil && s.parent >= 0 && d.Spans[s.parent].timed() {
			d.nobody[i] = earlier(d.nobody[i], d.Spans[s.parent].end())
		}
		if s.server >= 0 && d.Spans[s.server].Orphan != nil {
			d.nobody[i] = earlier(d.nobody[i], s.end())
		}
	}
}

func earlier(a, b int64) int64 {
	if a < 0 || b < a {
		return b
	}
	return a
}

// barOf draws what a node did when.
func (d *drawing) barOf(i int32) string {
	n := &d.nodes[i]
	s := &d.Spans[n.span]
	from, to, known := d.span(i)
	b := newBar(d.from, d.to, d.bar)
	if !known {
		return report.Fitted("", d.bar)
	}
	below := d.below(n)
	switch {
	case !d.Timed:
		b.add(working, from, to)
	case s.server >= 0:
		server := &d.Spans[s.server]
		b.add(waiting, from, min(*server.Start, s.end()))
		d.work(b, i, *server.Start, server.end(), below)
		b.add(waiting, server.end(), s.end())
	default:
		d.work(b, i, from, to, below)
	}
	gaveUp := int64(-1)
	if d.Timed && s.Outcome == spans.Truncated {
		gaveUp, d.marks = s.end(), true
	}
	for c := range b.covered {
		d.used[b.most(c)] = true
	}
	return d.painted(b.text(from, gaveUp))
}

// painted has the part of a bar that runs for nobody in a color.
func (d *drawing) painted(bar string) string {
	from := strings.Index(bar, glyphs[forNobody])
	if from < 0 {
		return bar
	}
	to := strings.LastIndex(bar, glyphs[forNobody]) + len(glyphs[forNobody])
	return bar[:from] + d.look.Doubtful(bar[from:to]) + bar[to:]
}

// work draws own work and calls, and what of it is for nobody.
func (d *drawing) work(b *bar, i int32, from, to int64, below []stretch) {
	left := to
	if at := d.nobody[i]; at >= 0 {
		left = max(from, min(at, to))
	}
	b.addSplit(working, calling, from, left, below)
	b.add(forNobody, left, to)
}

// below is when what a node waits for ran.
func (d *drawing) below(n *node) []stretch {
	var list []stretch
	for _, c := range n.children {
		if s := &d.Spans[d.nodes[c].span]; !s.Async && s.timed() {
			list = append(list, stretch{*s.Start, s.end()})
		}
	}
	return union(list)
}

// label is the name of a row in the tree.
func (d *drawing) label(r *row) string {
	name := d.title(r.node)
	if r.folded != nil {
		name = d.foldedTitle(r)
	}
	if r.depth == 0 {
		return name
	}
	return d.branch(r) + name
}

// mostBranches is from how many levels on a row says its depth in figures.
const mostBranches = 6

func (d *drawing) branch(r *row) string {
	if r.depth > mostBranches {
		return fmt.Sprintf("%s⋯%d ", strings.Repeat("  ", mostBranches), r.depth)
	}
	line := " "
	for _, more := range r.open {
		line += map[bool]string{true: "│ ", false: "  "}[more]
	}
	return line + map[bool]string{true: "└ ", false: "├ "}[r.last]
}

func (d *drawing) foldedTitle(r *row) string {
	if !r.like {
		spans := 0
		for _, i := range r.folded {
			spans += 1 + int(d.nodes[i].below)
		}
		return fmt.Sprintf("… %d more", spans)
	}
	return fmt.Sprintf("… %d more like it", len(r.folded))
}

// title names a span: its service, unless that is the one of the row above, and its
// operation. A call is named by what serves it.
func (d *drawing) title(i int32) string {
	n := &d.nodes[i]
	s := &d.Spans[n.span]
	operation := s.Operation
	if s.server >= 0 {
		if s = &d.Spans[s.server]; !strings.Contains(operation, s.Operation) {
			operation = s.Operation // else the caller says more, as "GET /users" of a server's "GET"
		}
	}
	above := ""
	if n.parent >= 0 {
		p := &d.Spans[d.nodes[n.parent].span]
		if p.server >= 0 {
			p = &d.Spans[p.server]
		}
		above = p.Service
	}
	switch {
	case s.Service == "" || s.Operation == "":
		return report.Visible(s.Name)
	case s.Service == above:
		return report.Visible(operation)
	}
	return report.Visible(s.Service + " " + operation)
}

// ended says how a row ended and what else is to be known of it.
func (d *drawing) ended(r *row) string {
	if r.folded != nil {
		return ""
	}
	s := &d.Spans[d.nodes[r.node].span]
	var list []string
	add := func(text string, is bool) {
		if is && text != "" {
			list = append(list, text)
		}
	}
	add(shortOutcome(s), true)
	d.passed = d.passed || s.CutBy == spans.Below
	orphan := s.Orphan
	if s.server >= 0 {
		server := &d.Spans[s.server]
		add("callee "+shortOutcome(server), outcomeText(server) != "" && outcomeText(s) == "")
		orphan = server.Orphan
	}
	add(orphanText(orphan, d.scale), orphan != nil)
	add("retry", s.Retry != "")
	add("async", s.Async)
	add("parent missing", s.Stray)
	return strings.Join(list, ", ")
}

func orphanText(o *Orphan, s brief.Scale) string {
	if o == nil {
		return ""
	}
	mark := glyphs[forNobody]
	if o.Sure == orphans.Doubtful {
		mark += "?"
	}
	return mark + " " + figure(o.Wasted, s)
}

// outcomeText is how a span ended, "" where it completed.
func outcomeText(s *Span) string {
	switch s.Outcome {
	case spans.Truncated:
		return map[spans.CutBy]string{spans.Below: "timed out below", spans.Caller: "cancelled"}[s.CutBy] + map[bool]string{true: "timed out"}[s.CutBy != spans.Below && s.CutBy != spans.Caller]
	case spans.Failed:
		if s.Failure == "" || s.Failure == "unknown" {
			return "failed"
		}
		return "failed: " + strings.ReplaceAll(string(s.Failure), "_", " ")
	case spans.Unfinished:
		return "no end"
	}
	return ""
}

// shortOutcome is outcomeText with a mark for what a call below passed up.
func shortOutcome(s *Span) string {
	if s.CutBy == spans.Below {
		return "timed out ↓"
	}
	return outcomeText(s)
}

// legend explains what is on the page.
func (d *drawing) legend(width int) []string {
	var list []string
	for s, text := range [states]string{
		working: "working", calling: "waiting for calls below", waiting: "waiting for the callee (queue, network)",
		forNobody: "working for nobody: the caller gave up", folded: "several, folded",
	} {
		if d.used[s] && text != "" {
			list = append(list, glyphs[s]+" "+text)
		}
	}
	slices.Reverse(list)
	if d.marks {
		list = append(list, gaveUpGlyph+" gave up")
	}
	if d.passed {
		list = append(list, "↓ because a call below it did")
	}
	return wrapped(list, width)
}

// wrapped puts as many texts on a line as fit.
func wrapped(list []string, width int) (lines []string) {
	line := ""
	for _, text := range list {
		if line != "" && report.Columns(line)+3+report.Columns(text) > width {
			lines, line = append(lines, line), ""
		}
		if line == "" {
			line = gap + text
		} else {
			line += "   " + text
		}
	}
	return append(lines, line)
}
