package attribution

import (
	"strings"
	"testing"
)

func TestVerdictsAreSpokenOut(t *testing.T) {
	for verdict, want := range map[InstanceVerdict]string{
		SlowNode: "A slow node", SlowService: "A slow service", OneInstance: "Only one instance", TooFewTraces: "Too few tail traces",
	} {
		if got := instanceText(verdict); !strings.HasPrefix(got, want) {
			t.Errorf("%s: %s", verdict, got)
		}
	}
}
