package ingest

import "io"

const (
	// aheadBlocks blocks of aheadSize bytes are decompressed before they are asked
	// for.
	aheadBlocks = 4
	aheadSize   = 256 << 10
)

// ahead reads a stream beside its consumer, a few blocks ahead of it: what undoes
// the compression does not wait for what cuts the records.
type ahead struct {
	full chan stretch  // read, in order
	free chan []byte   // to be filled
	stop chan struct{} // closed when no more is wanted
	done chan struct{} // closed when the stream is no longer read
	now  stretch       // being consumed
	rest []byte        // of now
}

type stretch struct {
	data []byte
	err  error // after data; nil but for the last
}

func newAhead(r io.Reader) *ahead {
	a := &ahead{full: make(chan stretch, aheadBlocks), free: make(chan []byte, aheadBlocks), stop: make(chan struct{}), done: make(chan struct{})}
	for range aheadBlocks {
		a.free <- make([]byte, aheadSize)
	}
	go a.run(r)
	return a
}

// run fills blocks until the stream ends. There are no more blocks than full has
// room for.
func (a *ahead) run(r io.Reader) {
	defer close(a.done)
	for {
		select {
		case <-a.stop:
			return
		case buf := <-a.free:
			b := fillBlock(r, buf)
			a.full <- b
			if b.err != nil {
				return
			}
		}
	}
}

func fillBlock(r io.Reader, buf []byte) stretch {
	n := 0
	for n < len(buf) {
		m, err := r.Read(buf[n:])
		if n += m; err != nil {
			return stretch{buf[:n], err}
		}
	}
	return stretch{buf, nil}
}

// Read gives what was read ahead. After the error that ended the stream it must
// not be called again.
func (a *ahead) Read(p []byte) (int, error) {
	for len(a.rest) == 0 {
		if a.now.err != nil {
			return 0, a.now.err
		}
		if a.now.data != nil {
			a.free <- a.now.data[:cap(a.now.data)]
		}
		a.now = <-a.full
		a.rest = a.now.data
	}
	n := copy(p, a.rest)
	a.rest = a.rest[n:]
	return n, nil
}

// close ends the reading; the stream may be closed after it.
func (a *ahead) close() error {
	close(a.stop)
	<-a.done
	return nil
}
