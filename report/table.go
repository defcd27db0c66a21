package report

// Table is rows of values under named columns, for any writer. A value is made
// when a writer asks for it.
type Table struct {
	Title   string
	Columns []Head
	Rows    int
	At      func(row, column int) Value
	Caption []string // sentences under the table
}

// Head describes one column of a Table.
type Head struct {
	Key  string // name in CSV; "" for a column that only people see
	Head string // name for people; "" for a column of CSV only
	Is   Is
}

// Is says how people see a column. Unless it says otherwise, a column holds
// figures, aligned to the right, and each duration has its own unit.
type Is uint8

const (
	Words   Is = 1 << iota // texts, aligned to the left
	Key                    // says what the row is about: repeated where a table is split
	Name                   // names from the input, aligned to the left, which may be shortened
	OneUnit                // durations in one unit, in which the smallest is at least 1
	ByMost                 // durations in one unit, that of the largest, whatever its sign
	Rounded                // each duration in its own unit, with three decimals at most
)

// Column is a column of a table with rows of type R.
type Column[R any] struct {
	Key, Head string // as in Head
	Is        Is
	Of        func(*R) Value
}

// NewTable makes a table of rows. Rows may not change afterwards.
func NewTable[R any](title string, rows []R, columns []Column[R], caption ...string) Table {
	t := Table{Title: title, Rows: len(rows), Caption: caption}
	for _, c := range columns {
		t.Columns = append(t.Columns, Head{c.Key, c.Head, c.Is})
	}
	t.At = func(row, column int) Value { return columns[column].Of(&rows[row]) }
	return t
}

func (h Head) is(is Is) bool { return h.Is&is != 0 }

func (h Head) right() bool { return !h.is(Words | Name) }
