package findings

import (
	"fmt"
	"strings"

	"github.com/tailscope/tailscope/internal/brief"
	"github.com/tailscope/tailscope/internal/note"
)

func (m *maker) inputIncomplete() {
	for _, why := range m.Incomplete {
		f := m.general(InputIncomplete, Fail)
		if m.Read != nil {
			f.Figures["records"], f.Figures["rejected"] = m.Read.Records, m.Read.Rejected
		}
		f.Text = sentence(why)
		f.Do = []string{"Read the whole input again, or take these figures for a part of it."}
		m.add(f)
	}
}

func (m *maker) sampleChosen() {
	if m.Read == nil {
		return
	}
	f := m.general(SampleChosen, Warn)
	f.Figures["sampling"] = m.Read.Sampling.Kind
	switch text := textOf(m.Read.Warnings, "suspected_biased_sample"); {
	case m.biased():
		f.Text = "The traces were chosen by how they went: they say nothing of how often anything happens."
		f.Do = []string{"Keep traces by chance, or say what their weights are: --field weight=KEY."}
	case strings.Contains(text, "round number") && m.Read.Traces != nil:
		f.Text = fmt.Sprintf("Exactly %d traces: a query's limit?", *m.Read.Traces)
		f.Figures["traces"] = *m.Read.Traces
		f.Do = []string{"If all are there: --sampling none."}
	case text != "":
		text, _, _ = strings.Cut(text, ". ")
		f.Text = sentence(text)
		f.Do = []string{"If all are there: --sampling none."}
	default:
		return
	}
	m.add(f)
}

// mostMissing is the share of spans without their parent that is too much.
const mostMissing = .01

func (m *maker) missingParents() {
	if m.Orphans == nil || !m.Orphans.Checkable {
		return
	}
	n, of := m.Orphans.MissingParents, m.Orphans.SpansWithParent+m.Orphans.MissingParents
	if of == 0 || float64(n) <= mostMissing*float64(of) {
		return
	}
	f := m.general(MissingParents, Warn)
	f.count("missing", n)
	f.count("of", of)
	f.Text = fmt.Sprintf("%s of the spans name a parent that is not in the input (%d of %d): calls and their callers are not put together there.", f.share("share", float64(n)/float64(of), brief.Nearest), n, of)
	m.add(f)
}

func (m *maker) doubleInput() {
	if m.Read == nil {
		return
	}
	m.quote(DoubleInput, textOf(m.Read.Warnings, "repeated_lines"))
}

func (m *maker) namesFolded() {
	if m.Read == nil {
		return
	}
	text := textOf(m.Read.Warnings, "ids_folded")
	for i := range m.Hops {
		if t := textOf(m.Hops[i].Warnings, "hops_folded"); t != "" && text == "" {
			text = t
		}
	}
	m.quote(NamesFolded, text)
}

// quote is a finding in the words of a warning, none where there is no warning.
func (m *maker) quote(code Code, warning string) {
	if warning != "" {
		f := m.general(code, Warn)
		f.Text = sentence(warning)
		m.add(f)
	}
}

// clocksDiffer says that clocks do not tell which work was orphaned.
func (m *maker) clocksDiffer() {
	if m.Orphans == nil || !m.Orphans.Checkable || m.Orphans.Doubtful <= m.Orphans.Orphaned {
		return
	}
	f := m.general(ClocksDiffer, Warn)
	f.count("doubtful", m.Orphans.Doubtful)
	f.count("orphans", m.Orphans.Orphaned)
	f.Text = fmt.Sprintf("Clocks differ: besides %s, %d more are orphans only if the clocks are right.", note.Count(m.Orphans.Orphaned, "orphan"), m.Orphans.Doubtful)
	m.add(f)
}
