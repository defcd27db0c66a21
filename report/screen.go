package report

import "fmt"

// Screen is the first page of a run, for people: what was read, what is wrong, one table
// and what else to know. Its texts are raw, as those of a Section.
type Screen struct {
	Read     string
	Verdicts []Verdict
	Blocks   []Block
	Caveats  []string // each changes an answer
	More     string   // commands that show the rest
}

// Mood is how a verdict looks.
type Mood int

// The moods, the worst last.
const (
	Fine Mood = iota
	Doubt
	Bad
)

// sign is what stands before a verdict.
func (m Mood) sign() string {
	return [...]string{Fine: "✓", Doubt: "!", Bad: "✗"}[m]
}

// Verdict is a sentence with its reasons.
type Verdict struct {
	Mood   Mood
	Text   string
	Points []Point
}

// Point is some sentences under a label, such as Why. The first of them matter most.
type Point struct {
	Label    string
	Lines    []string
	Numbered bool
}

// Block is a table, a drawing or some sentences, under a title or behind a label.
type Block struct {
	Title   string
	Aside   string // at the end of the title's line
	Label   string // before the sentences: "Retries"
	Columns []Pillar
	Rows    [][]Cell
	Drawing []string // lines that keep their blanks
	Lines   []string // sentences below
	Left    int      // rows that are left out
	More    string   // the command that shows them
}

// Pillar is a column of a block. What is first to be Left out where there is no room has
// the highest number; 0 stays.
type Pillar struct {
	Head string
	Text bool // aligned to the left
	Drop int
}

// Cell is a field of a block. A name may be shortened.
type Cell struct {
	Text   string
	Branch string // of a tree, before the name
	Bound  bool   // a lower bound
	Mark   string
}

// full is the text of a cell with its mark.
func (c Cell) full() string {
	if c.Mark == "" {
		return c.Branch + c.Text
	}
	return c.Branch + c.Text + " " + c.Mark
}

// What a screen may take at that width, with so many rows in its first table; each row
// more is a line more.
const (
	screenWidth = 100
	screenLines = 40
	screenRows  = 10
)

// Fit leaves out the sentences and the rows of later tables that matter least until the
// screen has no more lines than fit at 100 columns: 40, and one for each row of the first
// table beyond 10. A sentence of each part of the first verdict stays in any case.
func (s *Screen) Fit() {
	most := screenLines + max(0, s.rows()-screenRows)
	for _, keep := range [...]struct{ sentences, caveats, rows int }{{3, 4, 5}, {2, 3, 5}, {2, 2, 4}, {2, 1, 3}, {1, 1, 3}, {1, 1, 2}} {
		if s.height(screenWidth) <= most {
			break
		}
		s.trim(keep.sentences, keep.caveats)
		s.trimRows(keep.rows)
	}
	for i := range s.Blocks {
		if k := &s.Blocks[i]; k.Left > 0 {
			k.Lines = append([]string{fmt.Sprintf("and %d more: %s", k.Left, k.More)}, k.Lines...)
		}
	}
}

// trimRows leaves so many rows of all tables that say where the others are.
func (s *Screen) trimRows(most int) {
	for i := range s.Blocks {
		if k := &s.Blocks[i]; k.More != "" && len(k.Rows) > most {
			k.Left += len(k.Rows) - most
			k.Rows = k.Rows[:most]
		}
	}
}

// rows counts those of the first table.
func (s *Screen) rows() int {
	for i := range s.Blocks {
		if len(s.Blocks[i].Columns) > 0 {
			return len(s.Blocks[i].Rows)
		}
	}
	return 0
}

func (s *Screen) trim(sentences, caveats int) {
	for i := range s.Verdicts {
		for j := range s.Verdicts[i].Points {
			p := &s.Verdicts[i].Points[j]
			p.Lines = p.Lines[:min(sentences, len(p.Lines))]
		}
	}
	if len(s.Caveats) > caveats {
		s.Caveats = append(s.Caveats[:caveats:caveats], "There is more to know: --verbose")
	}
}
