package idempotency

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"hash"
	"io"
	"slices"
	"strconv"
	"strings"
)

// HashSize is the length of a hash in bytes.
const HashSize = sha256.Size

// Hash is the same for two bodies exactly when they are the same JSON value: the order of an
// object's keys, white space, escapes, and the spelling of numbers (1, 1.0, 1e0) do not matter.
// An empty body is a value of its own. Since two values for one key have no common meaning, a
// body with a repeated key is refused.
func Hash(body []byte) ([HashSize]byte, error) {
	var sum [HashSize]byte
	h := sha256.New()
	if len(bytes.TrimSpace(body)) > 0 {
		if !json.Valid(body) { // Token alone would miss what follows the value
			return sum, errors.New("hash body: it is not JSON")
		}
		d := json.NewDecoder(bytes.NewReader(body))
		d.UseNumber()
		if err := hashValue(h, d); err != nil {
			return sum, fmt.Errorf("hash body: %w", err)
		}
	}
	h.Sum(sum[:0])
	return sum, nil
}

// hashValue feeds the next value of d to h in an encoding that no two values share: a letter for
// its kind, and lengths before whatever varies. Containers are hashed by themselves, so that an
// object's members can be put in order.
func hashValue(h hash.Hash, d *json.Decoder) error {
	t, err := d.Token()
	if err != nil {
		return err
	}
	switch t := t.(type) {
	case json.Delim:
		if t == '{' {
			return hashObject(h, d)
		}
		return hashArray(h, d)
	case string:
		put(h, 's', []byte(t))
	case json.Number:
		put(h, 'n', []byte(canonicalNumber(t.String())))
	case bool:
		put(h, 'b', strconv.AppendBool(nil, t))
	default:
		put(h, '0', nil)
	}
	return nil
}

func hashArray(h hash.Hash, d *json.Decoder) error {
	inner, n := sha256.New(), uint64(0)
	for ; d.More(); n++ {
		if err := hashValue(inner, d); err != nil {
			return err
		}
	}
	if _, err := d.Token(); err != nil { // the closing bracket
		return err
	}
	put(h, 'a', inner.Sum(binary.BigEndian.AppendUint64(nil, n)))
	return nil
}

func hashObject(h hash.Hash, d *json.Decoder) error {
	members := map[string][]byte{}
	for d.More() {
		t, err := d.Token()
		if err != nil {
			return err
		}
		key, _ := t.(string)
		if _, twice := members[key]; twice {
			return fmt.Errorf("the key %q is there twice", key)
		}
		inner := sha256.New()
		if err := hashValue(inner, d); err != nil {
			return err
		}
		members[key] = inner.Sum(nil)
	}
	if _, err := d.Token(); err != nil { // the closing brace
		return err
	}
	inner := sha256.New()
	for _, key := range sortedKeys(members) {
		put(inner, 'k', []byte(key))
		put(inner, 'v', members[key])
	}
	put(h, 'o', inner.Sum(nil))
	return nil
}

func sortedKeys(m map[string][]byte) []string {
	keys := make([]string, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}

func put(w io.Writer, kind byte, b []byte) {
	head := binary.BigEndian.AppendUint64([]byte{kind}, uint64(len(b)))
	_, _ = w.Write(head) // a hash never fails
	_, _ = w.Write(b)
}

// maxExponentDigits bounds what is computed with exponents: longer ones stay as they are spelled.
const maxExponentDigits = 17

// canonicalNumber spells a JSON number as its digits without zeros at either end, and a power of
// ten. It only moves characters about: a large exponent costs nothing.
func canonicalNumber(n string) string {
	rest, negative := strings.CutPrefix(n, "-")
	mantissa, exponent := rest, ""
	if i := strings.IndexAny(rest, "eE"); i >= 0 {
		mantissa, exponent = rest[:i], rest[i+1:]
	}
	whole, fraction, _ := strings.Cut(mantissa, ".")
	digits := strings.TrimLeft(whole+fraction, "0")
	if digits == "" {
		return "0"
	}
	power, ok := smallExponent(exponent)
	if !ok {
		return n
	}
	power -= int64(len(fraction))
	significant := strings.TrimRight(digits, "0")
	power += int64(len(digits) - len(significant))
	if negative {
		significant = "-" + significant
	}
	return significant + "e" + strconv.FormatInt(power, 10)
}

func smallExponent(e string) (int64, bool) {
	sign := int64(1)
	if rest, negative := strings.CutPrefix(e, "-"); negative {
		e, sign = rest, -1
	}
	e = strings.TrimLeft(strings.TrimPrefix(e, "+"), "0")
	if e == "" {
		return 0, true
	}
	if len(e) > maxExponentDigits {
		return 0, false
	}
	v, err := strconv.ParseInt(e, 10, 64)
	return sign * v, err == nil
}
