// Package overflow keeps blocks of bytes that memory does not hold in a file.
package overflow

import (
	"errors"
	"fmt"
	"os"
)

// File is a temporary file of blocks. Reading may go on in several goroutines, once
// all is written.
type File struct {
	file *os.File
	size int64
}

// Piece is where a block lies in a file.
type Piece struct {
	at   int64
	size int
}

// New makes a file in a folder, "" for the system's; its name begins with prefix.
func New(folder, prefix string) (*File, error) {
	f, err := os.CreateTemp(folder, prefix)
	if err != nil {
		return nil, fmt.Errorf("file for what memory does not hold: %w", err)
	}
	return &File{file: f}, nil
}

// Write appends a block.
func (f *File) Write(block []byte) (Piece, error) {
	if _, err := f.file.WriteAt(block, f.size); err != nil {
		return Piece{}, fmt.Errorf("writing what memory does not hold: %w", err)
	}
	p := Piece{f.size, len(block)}
	f.size += int64(len(block))
	return p, nil
}

// Size is the length of the block in bytes.
func (p Piece) Size() int { return p.size }

// Read fills block, of the piece's size, with what was written.
func (f *File) Read(p Piece, block []byte) error {
	if _, err := f.file.ReadAt(block[:p.size], p.at); err != nil {
		return fmt.Errorf("reading what memory did not hold: %w", err)
	}
	return nil
}

// Close removes the file. A nil file has nothing to remove.
func (f *File) Close() error {
	if f == nil {
		return nil
	}
	return errors.Join(f.file.Close(), os.Remove(f.file.Name()))
}
