package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"

	"github.com/tailscope/tailscope/bench/trial"
)

// lab has the programs and inputs, and remembers what it has measured: several
// rows look at the same runs.
type lab struct {
	tailscope, generate, dir string
	lines, traces, pairs     int
	done                     map[string]outcome
}

// outcome is what a measurement gave: the runs of ours and, of pairs, theirs; and
// the size of the file in MB, decompressed.
type outcome struct {
	ours, theirs trial.Runs
	size         float64
	err          error
}

// build makes the folder and the programs.
func (l *lab) build() error {
	l.done = map[string]outcome{}
	if err := os.MkdirAll(l.dir, 0o755); err != nil {
		return err
	}
	l.generate = filepath.Join(l.dir, "generate")
	programs := map[string]string{l.generate: "./bench/generate"}
	if l.tailscope == "" {
		l.tailscope = filepath.Join(l.dir, "tailscope")
		programs[l.tailscope] = "./cmd/tailscope"
	}
	for program, from := range programs {
		if out, err := exec.Command("go", "build", "-o", program, from).CombinedOutput(); err != nil {
			return fmt.Errorf("%w\n%s", err, out)
		}
	}
	return nil
}

// once measures what is not yet measured, and says so: it takes long.
func (l *lab) once(name string, measure func() outcome) outcome {
	if done, known := l.done[name]; known {
		return done
	}
	fmt.Fprintln(os.Stderr, "table: measuring", name)
	l.done[name] = measure()
	return l.done[name]
}

// onFile measures on the file of an input.
func (l *lab) onFile(what string, in input, measure func(file string) outcome) outcome {
	return l.once(what+", "+in.String(), func() outcome {
		file, err := l.file(in)
		if err != nil {
			return outcome{err: err}
		}
		return measure(file)
	})
}

// against runs quantiles and a peer on the same file, in turn.
func (l *lab) against(peer string, in input) outcome {
	return l.onFile(peer+" and quantiles", in, func(file string) outcome {
		other, err := trial.Peer(peer, file)
		if err != nil {
			return outcome{err: err}
		}
		return l.inTurn(file, other).of(file)
	})
}

// otherWay runs quantiles and another way of asking tailscope in turn.
func (l *lab) otherWay(command string, workers int, in input) outcome {
	return l.onFile(fmt.Sprintf("%s by %d and quantiles", command, workers), in, func(file string) outcome {
		return l.inTurn(file, trial.Tailscope(l.tailscope, command, file, workers))
	})
}

func (l *lab) inTurn(file string, other trial.Tool) (o outcome) {
	o.ours, o.theirs, o.err = trial.Pairs(trial.Tailscope(l.tailscope, "quantiles", file, trial.Workers), other, l.pairs)
	return o
}

// alone runs one command on a file, as often as a pair.
func (l *lab) alone(command string, in input) outcome {
	return l.onFile(command, in, func(file string) (o outcome) {
		for i := 0; i < l.pairs && o.err == nil; i++ {
			o.add(l.asked(command, file).Run())
		}
		return o.of(file)
	})
}

// piped runs one command once on what the generator writes: a hundred million
// lines then need no disk.
func (l *lab) piped(command string, in input) outcome {
	return l.once(command+", "+in.String()+" by pipe", func() (o outcome) {
		tool := l.asked(command, "-")
		tool.Input = append([]string{l.generate}, in.flags()...)
		o.add(tool.Run())
		return o
	})
}

// asked is a command as the user would type it, with the workers of all.
func (l *lab) asked(command, file string) trial.Tool {
	words := []string{l.tailscope, command, "--format", "json", "--jobs", fmt.Sprint(trial.Workers), file}
	return trial.Tool{Name: command, Command: words}
}

func (o *outcome) add(u trial.Usage, err error) {
	o.ours, o.err = append(o.ours, u), err
}

// of adds the size of the file.
func (o outcome) of(file string) outcome {
	if o.err == nil {
		var size int64
		size, o.err = trial.Size(file)
		o.size = float64(size) / 1e6
	}
	return o
}
