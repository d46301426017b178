package text

import (
	"math/big"
	"strconv"
	"strings"

	"github.com/bojanz/currency"
)

// money shows amounts as people of one locale write them.
type money struct{ formatter *currency.Formatter }

func newMoney(locale string) money {
	f := currency.NewFormatter(currency.NewLocale(locale))
	// Digits are not grouped: the separator is a full stop for one reader and a comma for another,
	// and what is copied from a message must still be a number.
	f.NoGrouping = true
	return money{f}
}

// show writes an amount in the minor unit of a currency, with all its decimals. A currency that
// nobody knows is shown by its code with the two decimals that "cents" stand for.
func (m money) show(minor int64, code string) string {
	code = strings.ToUpper(strings.TrimSpace(code))
	amount, err := currency.NewAmountFromInt64(minor, code)
	if err == nil {
		return m.formatter.Format(amount)
	}
	plain := decimal(minor)
	if code == "" {
		return plain
	}
	return line(code, maxCode) + "\u00a0" + plain
}

// maxCode is how much of an unknown currency's code is shown, in UTF-16 code units.
const maxCode = 8

func decimal(cents int64) string {
	digits := strings.TrimPrefix(strconv.FormatInt(cents, 10), "-")
	for len(digits) < 3 {
		digits = "0" + digits
	}
	point := len(digits) - 2
	sign := ""
	if cents < 0 {
		sign = "-"
	}
	return sign + digits[:point] + "." + digits[point:]
}

// times is the price of a line; not ok when it is too large to be one.
func times(quantity, price int64) (total int64, ok bool) {
	product := new(big.Int).Mul(big.NewInt(quantity), big.NewInt(price))
	return product.Int64(), product.IsInt64()
}
