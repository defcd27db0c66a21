package mirror

import (
	"strconv"

	"github.com/tailscope/tailscope/quantile/fit"
)

type jsonEstimate struct {
	Value     *int64      `json:"value_ns"`
	Bound     *int64      `json:"bound_ns"`
	F         *float64    `json:"f"`
	Xi        *float64    `json:"xi"`
	A2        *float64    `json:"a2"`
	Models    []jsonModel `json:"models"`
	Gates     []jsonGate  `json:"gates"`
	Condition string      `json:"condition"`
}

type jsonModel struct {
	Name  string `json:"name"`
	Value *int64 `json:"value_ns"`
	Bound *int64 `json:"bound_ns"`
}

type jsonGate struct {
	Gate   fit.Gate `json:"gate"`
	Figure *float64 `json:"figure"`
	Limit  float64  `json:"limit"`
	Passed bool     `json:"passed"`
}

func estimateJSON(e *fit.Estimate) *jsonEstimate {
	if e == nil {
		return nil
	}
	j := &jsonEstimate{
		Value: e.Value, Bound: e.Bound, F: sixDigits(e.F), Condition: fit.Condition,
		Models: list(e.Models, func(m fit.Model) jsonModel { return jsonModel(m) }),
		Gates: list(e.Gates, func(g fit.Judgement) jsonGate {
			return jsonGate{g.Gate, sixDigits(g.Figure), g.Limit, g.Passed}
		}),
	}
	if e.Fitted {
		j.Xi = sixDigits(e.Xi)
	}
	if e.A2 != nil {
		j.A2 = sixDigits(*e.A2)
	}
	return j
}

// sixDigits rounds a fitted number: what lies beyond depends on the machine.
func sixDigits(f float64) *float64 {
	short, err := strconv.ParseFloat(strconv.FormatFloat(f, 'e', 5, 64), 64)
	if err != nil {
		return nil
	}
	return finite(short)
}
