package attribution

import (
	"errors"
	"fmt"
	"os"
)

// spill is the file of one watch for lines that memory does not hold.
type spill struct {
	file *os.File
	size int64
}

// piece is where a block lies in the file.
type piece struct {
	at   int64
	size int
}

func newSpill(folder string) (*spill, error) {
	f, err := os.CreateTemp(folder, "tailscope-chains-")
	if err != nil {
		return nil, fmt.Errorf("file for lines that memory does not hold: %w", err)
	}
	return &spill{file: f}, nil
}

func (s *spill) write(block []byte) (piece, error) {
	if _, err := s.file.WriteAt(block, s.size); err != nil {
		return piece{}, fmt.Errorf("writing lines that memory does not hold: %w", err)
	}
	p := piece{s.size, len(block)}
	s.size += int64(len(block))
	return p, nil
}

// read fills a block with a piece of its size.
func (s *spill) read(p piece, block []byte) error {
	if _, err := s.file.ReadAt(block, p.at); err != nil {
		return fmt.Errorf("reading lines that memory did not hold: %w", err)
	}
	return nil
}

// spillAll moves all lines to the file.
func (s *lineStore) spillAll() error {
	if s.spill == nil {
		var err error
		if s.spill, err = newSpill(s.config.TempDir); err != nil {
			return err
		}
	}
	var together []byte
	for i := range s.shelves {
		shelf := &s.shelves[i]
		together = together[:0]
		for _, block := range shelf.blocks {
			together = append(together, block...)
		}
		if len(together) == 0 {
			continue
		}
		p, err := s.spill.write(together)
		if err != nil {
			return err
		}
		shelf.spilled = append(shelf.spilled, p)
		shelf.empty()
	}
	s.held = 0
	return nil
}

// Close removes what a watch has on disk; calling it again does nothing.
func (w *Watch) Close() error {
	s := w.lines.spill
	if s == nil {
		return nil
	}
	w.lines.spill = nil
	return errors.Join(s.file.Close(), os.Remove(s.file.Name()))
}
