package attribution

import "github.com/tailscope/tailscope/internal/spill"

// spillAll moves all lines to the file.
func (s *lineStore) spillAll() error {
	if s.spill == nil {
		s.spill = spill.New(s.config.TempDir, "chains")
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
		p, err := s.spill.Write(together)
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
	return w.lines.spill.Close()
}
