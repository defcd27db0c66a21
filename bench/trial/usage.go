package trial

import (
	"os/exec"
	"slices"
	"syscall"
	"time"
)

// Usage is what one run took: wall time, user and system time, and the most
// memory that was resident, in bytes.
type Usage struct {
	Wall, CPU time.Duration
	Peak      int64
}

// measure runs a command. Maxrss is in KiB, as on Linux, and never less than
// what this process holds itself, since the child begins as its copy.
func (u *Usage) measure(cmd *exec.Cmd) error {
	began := time.Now()
	err := cmd.Run()
	u.Wall = time.Since(began)
	if cmd.ProcessState != nil {
		u.CPU = cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()
		if r, ok := cmd.ProcessState.SysUsage().(*syscall.Rusage); ok {
			u.Peak = int64(r.Maxrss) << 10
		}
	}
	return err
}

// Runs are those of one tool.
type Runs []Usage

// Wall, CPU and Peak are the measures of a run: seconds, seconds and MiB.
func Wall(u Usage) float64 { return u.Wall.Seconds() }
func CPU(u Usage) float64  { return u.CPU.Seconds() }
func Peak(u Usage) float64 { return float64(u.Peak) / (1 << 20) }

// Median is that of one measure.
func (r Runs) Median(of func(Usage) float64) float64 {
	var list []float64
	for _, u := range r {
		list = append(list, of(u))
	}
	return middle(list)
}

// Ratio is the median over the pairs of what the second took to the first.
func Ratio(first, second Runs, of func(Usage) float64) float64 {
	var list []float64
	for i := range first {
		list = append(list, of(second[i])/of(first[i]))
	}
	return middle(list)
}

// middle is the middle one of an odd number, else the mean of the middle two.
func middle(list []float64) float64 {
	slices.Sort(list)
	n := len(list)
	return (list[(n-1)/2] + list[n/2]) / 2
}
