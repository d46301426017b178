package idempotency

import (
	"fmt"
	"math/big"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"
)

func TestHashIsOfTheValue(t *testing.T) {
	for _, same := range [][]string{
		{`1`, `1.0`, `1e0`, `10e-1`, `0.1E+1`, " 1\n", `1000e-3`, `0.001e3`},
		{`0`, `-0`, `0.00`, `0e99999999999999999999999`},
		{`12300`, `1.23e4`, `123e2`, `12300.000`},
		{`-5`, `-5.0`, `-50e-1`},
		{`9007199254740993`, `9007199254740993.0`},
		{`{"a":1,"b":[1,2]}`, `{"b":[1.0,2],"a":1}`, "{ \"b\" : [ 1 , 2 ] , \"a\" : 1 }"},
		{`"é"`, `"\u00e9"`, `"\u00E9"`},
		{`"🎩"`, `"\ud83c\udfa9"`},
		{``, ` `, "\n"},
	} {
		for _, other := range same[1:] {
			if !equal(t, same[0], other) {
				t.Errorf("%s and %s differ", same[0], other)
			}
		}
	}
}

func TestHashTellsValuesApart(t *testing.T) {
	values := []string{
		``, `null`, `true`, `false`, `0`, `1`, `-1`, `10`, `0.1`, `"1"`, `""`, `"true"`, `[]`, `{}`,
		`[[]]`, `[{}]`, `[1,2]`, `[2,1]`, `[12]`, `[[1],2]`, `[1,[2]]`, `{"a":1}`, `{"a":"1"}`, `{"b":1}`,
		`{"a":{"b":1}}`, `{"a":{},"b":1}`, `{"ab":1}`, `{"a":null}`, `["a","b"]`, `["ab"]`, `["a:","b"]`,
		`9007199254740992`, `9007199254740993`, `1e400`, `1e401`, `1e-400`,
		`1e99999999999999999999`, `1e99999999999999999998`,
	}
	for i, a := range values {
		for _, b := range values[i+1:] {
			if equal(t, a, b) {
				t.Errorf("%q and %q have one hash", a, b)
			}
		}
	}
}

func TestHashRefusesWhatHasNoValue(t *testing.T) {
	for _, body := range []string{`{`, `{"a":1}{"a":1}`, `{"a":1,"a":2}`, `{"x":{"a":1,"\u0061":1}}`, `nul`} {
		if _, err := Hash([]byte(body)); err == nil {
			t.Errorf("%s: no error", body)
		}
	}
}

func TestHashIsQuickWithAnyNumber(t *testing.T) {
	for _, body := range []string{
		`1e999999999`, `1e-999999999999999`, `1e` + strings.Repeat("9", 1<<20), strings.Repeat("7", 1<<20),
		strings.Repeat("[", 9999) + strings.Repeat("]", 9999),
	} {
		began := time.Now()
		if _, err := Hash([]byte(body)); err != nil {
			t.Error(err)
		}
		if took := time.Since(began); took > 5*time.Second {
			t.Errorf("%.20s… took %v", body, took)
		}
	}
}

// A number keeps its hash however it is spelled, and its canonical form keeps its value.
func TestCanonicalNumberKeepsTheValue(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.StringMatching(`-?(0|[1-9][0-9]{0,20})(\.[0-9]{1,20})?([eE][+-]?[0-9]{1,2})?`).Draw(t, "number")
		want, ok := new(big.Rat).SetString(n)
		if !ok {
			t.Fatalf("%s is no number", n)
		}
		canonical := canonicalNumber(n)
		got, ok := new(big.Rat).SetString(canonical)
		if !ok || got.Cmp(want) != 0 {
			t.Fatalf("%s became %s", n, canonical)
		}
		shifted := fmt.Sprintf("%se%d", want.Num().String(), 0)
		if want.IsInt() && canonicalNumber(shifted) != canonical {
			t.Fatalf("%s and %s have two forms: %s and %s", n, shifted, canonical, canonicalNumber(shifted))
		}
	})
}

func equal(t *testing.T, a, b string) bool {
	t.Helper()
	ha, err := Hash([]byte(a))
	if err != nil {
		t.Fatalf("%s: %v", a, err)
	}
	hb, err := Hash([]byte(b))
	if err != nil {
		t.Fatalf("%s: %v", b, err)
	}
	return ha == hb
}
