package main

import (
	"os/exec"
	"slices"
	"syscall"
	"time"
)

// usage is what one run took.
type usage struct {
	wall, cpu time.Duration
	peak      int64 // bytes
}

// measure runs a command. Maxrss is in KiB, as on Linux.
func (u *usage) measure(cmd *exec.Cmd) error {
	began := time.Now()
	err := cmd.Run()
	u.wall = time.Since(began)
	if cmd.ProcessState != nil {
		u.cpu = cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()
		if r, ok := cmd.ProcessState.SysUsage().(*syscall.Rusage); ok {
			u.peak = int64(r.Maxrss) << 10
		}
	}
	return err
}

func (t tool) run() (usage, error) {
	var u usage
	_, err := t.output(&u)
	return u, err
}

type runs []usage

var measures = []struct {
	name string
	of   func(usage) float64
}{
	{"wall, s", func(u usage) float64 { return u.wall.Seconds() }},
	{"CPU, s", func(u usage) float64 { return u.cpu.Seconds() }},
	{"memory, MiB", func(u usage) float64 { return float64(u.peak) / (1 << 20) }},
}

func (r runs) median(of func(usage) float64) float64 {
	var list []float64
	for _, u := range r {
		list = append(list, of(u))
	}
	return middle(list)
}

// medianRatio is the median over the pairs of what the peer took to ours.
func medianRatio(ours, peer runs, of func(usage) float64) float64 {
	var list []float64
	for i := range ours {
		list = append(list, of(peer[i])/of(ours[i]))
	}
	return middle(list)
}

// middle is the middle one of an odd number, else the mean of the middle two.
func middle(list []float64) float64 {
	slices.Sort(list)
	n := len(list)
	return (list[(n-1)/2] + list[n/2]) / 2
}
