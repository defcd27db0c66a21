package quantile

import (
	"fmt"
	"hash/crc32"
	"os"
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// spillFile is a temporary file of blocks. It comes into being with the first.
type spillFile struct {
	dir  string
	file *os.File
	path string // empty where the file is deleted already
	end  int64
}

// spilled is where a block lies in a file.
type spilled struct {
	at   int64
	size uint32
	sum  uint32
}

// write appends a block.
func (f *spillFile) write(data []byte) (spilled, error) {
	if err := f.create(); err != nil {
		return spilled{}, err
	}
	s := spilled{f.end, uint32(len(data)), crc32.Checksum(data, castagnoli)}
	if _, err := f.file.WriteAt(data, s.at); err != nil {
		return spilled{}, fmt.Errorf("spill file of durations: %w", err)
	}
	f.end += int64(len(data))
	return s, nil
}

// create makes the file. Where the system lets an open file be deleted that is
// done at once, so that nothing is left whatever ends the process.
func (f *spillFile) create() error {
	if f.file != nil {
		return nil
	}
	file, err := os.CreateTemp(f.dir, "tailscope-durations-*")
	if err != nil {
		return fmt.Errorf("spill file of durations: %w", err)
	}
	f.file, f.path = file, file.Name()
	if os.Remove(f.path) == nil {
		f.path = ""
	}
	return nil
}

// read returns a block. Several goroutines may read at once.
func (f *spillFile) read(s spilled) ([]byte, error) {
	data := make([]byte, s.size)
	if _, err := f.file.ReadAt(data, s.at); err != nil {
		return nil, fmt.Errorf("spill file of durations: %w", err)
	}
	if crc32.Checksum(data, castagnoli) != s.sum {
		return nil, fmt.Errorf("spill file of durations: %d bytes at %d are not what was written", s.size, s.at)
	}
	return data, nil
}

// close deletes the file.
func (f *spillFile) close() error {
	if f.file == nil {
		return nil
	}
	err := f.file.Close()
	if f.path != "" {
		if removed := os.Remove(f.path); err == nil {
			err = removed
		}
	}
	f.file = nil
	return err
}
