// Package spill keeps blocks of bytes that memory does not hold in a temporary
// file.
package spill

import (
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"io/fs"
	"math"
	"os"

	"github.com/tailscope/tailscope/internal/disk"
	"github.com/tailscope/tailscope/internal/unnamed"
)

// File is a temporary file of blocks. It is made with the first one and has no name,
// or loses it at once, where the system allows that, so that nothing is left however
// the process ends; where it does not, Close removes it.
//
// One goroutine writes. Several may read at once, also while it writes.
type File struct {
	folder, kind string
	file         *disk.File // nil before the first block
	path         string     // of what Close has to remove
	end          int64
	closed       bool
	joined       []byte // of parts
}

// Piece is where a block lies in a File, and its checksum.
type Piece struct {
	at        int64
	size, sum uint32
}

// Size is the length of the block in bytes.
func (p Piece) Size() int { return int(p.size) }

var (
	castagnoli = crc32.MakeTable(crc32.Castagnoli)

	errTooLarge = errors.New("a block of 4 GiB or more")
	errShort    = errors.New("it is shorter than what was written")
	errDamaged  = errors.New("its content is not what was written")
)

// New returns a file of blocks in a folder, "" for the system's for temporary
// files. Errors name the folder and the kind of content, a plural: "spans".
func New(folder, kind string) *File {
	if folder == "" {
		folder = os.TempDir()
	}
	return &File{folder: folder, kind: kind}
}

// Write appends a block of less than 4 GiB, which may come in parts.
func (f *File) Write(parts ...[]byte) (Piece, error) {
	if err := f.create(); err != nil {
		return Piece{}, f.named(err)
	}
	block := parts[0]
	if len(parts) > 1 {
		f.joined = append(f.joined[:0], block...)
		for _, part := range parts[1:] {
			f.joined = append(f.joined, part...)
		}
		block = f.joined
	}
	if uint64(len(block)) > math.MaxUint32 {
		return Piece{}, f.named(errTooLarge)
	}
	p := Piece{f.end, uint32(len(block)), crc32.Checksum(block, castagnoli)}
	if _, err := f.file.WriteAt(block, p.at); err != nil {
		return Piece{}, f.named(err)
	}
	f.end += int64(len(block))
	return p, nil
}

// create makes the file, and takes away a name that it had to have.
func (f *File) create() (err error) {
	switch {
	case f.closed:
		return fs.ErrClosed
	case f.file != nil:
		return nil
	}
	if f.file, err = unnamed.Open(f.folder, os.O_RDWR|os.O_EXCL, 0o600); err == nil {
		return nil
	}
	if f.file, err = disk.CreateTemp(f.folder, "tailscope-"+f.kind+"-*"); err != nil {
		return err
	}
	if disk.Remove(f.file.Name()) != nil {
		f.path = f.file.Name()
	}
	return nil
}

// Read fills into, of p.Size bytes, with what was written. It is an error if the
// file does not hold that any more; then into holds anything.
func (f *File) Read(p Piece, into []byte) error {
	into = into[:p.size]
	if _, err := f.file.ReadAt(into, p.at); errors.Is(err, io.EOF) {
		return f.named(errShort)
	} else if err != nil {
		return f.named(err)
	}
	if crc32.Checksum(into, castagnoli) != p.sum {
		return f.named(errDamaged)
	}
	return nil
}

// Close removes the file. Calling it again does nothing, and a nil File has
// nothing to remove. Nobody may be reading or writing.
func (f *File) Close() error {
	if f == nil || f.closed {
		return nil
	}
	f.closed = true
	if f.file == nil {
		return nil
	}
	err := f.file.Close()
	if f.path != "" {
		err = errors.Join(err, disk.Remove(f.path))
	}
	return f.named(err)
}

// named says of which file an error is. The system's errors name a file that has
// no name any more: what they say beside that is kept.
func (f *File) named(err error) error {
	if err == nil {
		return nil
	}
	if system := (*fs.PathError)(nil); errors.As(err, &system) {
		err = system.Err
	}
	return &Error{f.kind, f.folder, err}
}

// Error is one of a temporary file: the run has failed, whatever it was reading.
type Error struct {
	Kind, Folder string
	Err          error
}

func (e *Error) Error() string {
	return fmt.Sprintf("temporary file of %s in %s: %v", e.Kind, e.Folder, e.Err)
}

func (e *Error) Unwrap() error { return e.Err }
