package main

import (
	"bytes"
	"strings"
	"testing"
)

func written(t *testing.T, flags ...string) string {
	t.Helper()
	var out bytes.Buffer
	if err := run(flags, &out); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

func TestTheSameFlagsWriteTheSameBytes(t *testing.T) {
	for _, form := range formNames() {
		once := written(t, "-form", form, "-n", "50")
		if once != written(t, "-form", form, "-n", "50") {
			t.Errorf("%s differs from run to run", form)
		}
		if once == written(t, "-form", form, "-n", "50", "-seed", "2") {
			t.Errorf("%s: another seed gives the same", form)
		}
	}
}

func TestHopLogsHoldCutsAndTheirRetries(t *testing.T) {
	lines := strings.Split(written(t, "-n", "5000"), "\n")
	cuts := 0
	for i, line := range lines[:len(lines)-2] {
		if strings.Contains(line, `"truncated":true,"attempt":1`) {
			cuts++
			if !strings.Contains(lines[i+1], `"attempt":2`) {
				t.Errorf("no retry after %s", line)
			}
		}
	}
	if cuts < 10 {
		t.Errorf("only %d cuts", cuts)
	}
}

func TestInterleavedTracesHaveTheSameSpans(t *testing.T) {
	whole, mixed := strings.SplitAfter(written(t, "-form", "otlp", "-n", "1500"), "\n"), strings.SplitAfter(written(t, "-form", "otlp-interleaved", "-n", "1500"), "\n")
	seen := map[string]bool{}
	for _, line := range whole {
		seen[line] = true
	}
	for _, line := range mixed {
		if !seen[line] {
			t.Fatalf("not among the whole traces: %s", line)
		}
	}
	if len(mixed) != len(whole) || mixed[1] == whole[1] {
		t.Errorf("%d lines and %d, the second alike: %t", len(whole), len(mixed), mixed[1] == whole[1])
	}
}

func TestWrongFlagsAreNamed(t *testing.T) {
	for flags, want := range map[string]string{
		"-form xml": `-form "xml": one of hops, hops-csv, jaeger, otlp, otlp-interleaved`, "-unit s": `-unit "s": us or ns`, "-n 0": "-n 0: at least 1",
	} {
		if err := run(strings.Fields(flags), new(bytes.Buffer)); err == nil || err.Error() != want {
			t.Errorf("%s: %v, want %s", flags, err, want)
		}
	}
}
