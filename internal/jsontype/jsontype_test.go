package jsontype

import (
	"encoding/json"
	"math"
	"testing"
)

func TestWhatIsNullAndWhatIsNever(t *testing.T) {
	for want, v := range map[string]any{
		`null`:                   Text(""),
		`"a<b\u0001"`:            Text("a<b\x01"),
		`[null,0,1.5]`:           List[Number]{Number(math.Inf(1)), 0, 1.5},
		`[null]`:                 List[Number]{Number(math.NaN())},
		`[]`:                     List[int](nil),
		`[[],[3]]`:               List[List[int]]{{}, {3}},
		`{}`:                     Map[string](nil),
		`{"b":1,"a":{"c":null}}`: Object{"b", 1, "a", Object{"c", Text("")}},
		`{"a":"&"}`:              Map[string]{"a": "&"},
		`7`:                      If(true, 7),
		`[null,7]`:               List[*int]{If(false, 7), If(true, 7)},
	} {
		if got, err := Marshal(v); err != nil || string(got) != want {
			t.Errorf("%#v: %s, %v, want %s", v, got, err, want)
		}
	}
}

type inner struct {
	A string     `json:"a"`
	B List[Text] `json:"b"`
}

func TestJoin(t *testing.T) {
	for want, objects := range map[string][]any{
		`{}`:                             {struct{}{}, Object{}},
		`{"a":"<","b":[],"c":{"d":[1]}}`: {inner{A: "<"}, struct{}{}, map[string]any{"c": map[string]List[int]{"d": {1}}}},
		`{"c":1}`:                        {struct{}{}, map[string]int{"c": 1}},
	} {
		if got, err := Join(objects...); err != nil || string(got) != want {
			t.Errorf("%s, %v, want %s", got, err, want)
		}
	}
	if _, err := Join(map[string]any{"f": math.NaN()}); err == nil {
		t.Error("no error for what JSON cannot hold")
	}
}

// Who writes the document decides how it is escaped.
func TestHTMLIsEscapedByTheOutermostEncoder(t *testing.T) {
	if got, err := json.Marshal(List[inner]{{A: "<", B: List[Text]{"&"}}}); err != nil || string(got) != `[{"a":"\u003c","b":["\u0026"]}]` {
		t.Errorf("%s, %v", got, err)
	}
}
