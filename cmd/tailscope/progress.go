package main

import (
	"sync/atomic"
	"time"

	"github.com/schollz/progressbar/v3"
)

// bar shows on stderr how far the reading is: bytes of input, rate, time left.
type bar struct {
	stopped chan struct{}
	ended   chan struct{}
}

// newBar starts a bar that follows read; without progress it does nothing.
func newBar(p *plan, read *atomic.Int64) *bar {
	b := &bar{make(chan struct{}), make(chan struct{})}
	if !p.progress {
		close(b.ended)
		return b
	}
	total := int64(0)
	for _, s := range p.sources {
		if s.Stdin != nil {
			total = -1 // not known: a spinner
			break
		}
		total += s.Size
	}
	pb := progressbar.NewOptions64(total,
		progressbar.OptionSetWriter(p.streams.err),
		progressbar.OptionShowBytes(true),
		progressbar.OptionSetPredictTime(true),
		progressbar.OptionThrottle(100*time.Millisecond),
		progressbar.OptionClearOnFinish(),
		progressbar.OptionSetDescription("reading"),
		// The library would turn the spinner from a goroutine of its own, without a
		// lock; follow draws often enough.
		progressbar.OptionSetSpinnerChangeInterval(0),
	)
	go b.follow(pb, read)
	return b
}

func (b *bar) follow(pb *progressbar.ProgressBar, read *atomic.Int64) {
	defer close(b.ended)
	tick := time.NewTicker(100 * time.Millisecond)
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
			// A bar that cannot be drawn is no reason to stop reading.
			_ = pb.Set64(read.Load())
		case <-b.stopped:
			_ = pb.Set64(read.Load())
			_ = pb.Finish()
			return
		}
	}
}

// stop removes the bar, so that what is said next starts on a clean line.
func (b *bar) stop() {
	close(b.stopped)
	<-b.ended
}
