package report

import (
	"bytes"
	"encoding/csv"
	"fmt"
	"io"
)

// CSV writes the rows of one section: the one asked for, or the first that has
// any. What is null in JSON is an empty field.
func CSV(w io.Writer, r *Report, _ Options) error {
	var b bytes.Buffer
	if s := r.forCSV(); s != nil {
		if err := csvRows(csv.NewWriter(&b), &s.Data); err != nil {
			return fmt.Errorf("writing CSV: %w", err)
		}
	}
	_, err := w.Write(b.Bytes())
	return err
}

// forCSV is the section whose rows CSV writes; nil where none has any.
func (r *Report) forCSV() *Section {
	for i := range r.Sections {
		if s := &r.Sections[i]; len(s.Data.Columns) > 0 && (r.Table == "" || r.Table == s.Key) {
			return s
		}
	}
	return nil
}

// CSVTables names the section whose rows CSV writes, and the others that have any.
func (r *Report) CSVTables() (written string, others []string) {
	first := r.forCSV()
	for i := range r.Sections {
		switch s := &r.Sections[i]; {
		case s == first:
			written = s.Key
		case s.Data.Rows > 0:
			others = append(others, s.Key)
		}
	}
	return written, others
}

func csvRows(w *csv.Writer, t *Table) error {
	var columns []int
	var fields []string
	for j, head := range t.Columns {
		if head.Key != "" {
			columns, fields = append(columns, j), append(fields, head.Key)
		}
	}
	err := w.Write(fields)
	for i := 0; i < t.Rows && err == nil; i++ {
		for k, j := range columns {
			fields[k] = t.At(i, j).field()
		}
		err = w.Write(fields)
	}
	w.Flush()
	return err
}
