package text

import (
	"math"
	"strings"
	"testing"

	"notifier/internal/orders"
)

func TestPlurals(t *testing.T) {
	for n, want := range map[int64][2]int{
		0: {1, 2}, 1: {0, 0}, 2: {1, 1}, 4: {1, 1}, 5: {1, 2}, 10: {1, 2}, 11: {1, 2}, 12: {1, 2}, 14: {1, 2}, 15: {1, 2},
		20: {1, 2}, 21: {1, 0}, 22: {1, 1}, 24: {1, 1}, 25: {1, 2}, 100: {1, 2}, 101: {1, 0}, 102: {1, 1}, 111: {1, 2},
		112: {1, 2}, 114: {1, 2}, 121: {1, 0}, 1001: {1, 0}, 1011: {1, 2}, -1: {0, 0}, -2: {1, 1}, math.MinInt64: {1, 2},
	} {
		positive, _ := whole(n)
		if got := [2]int{pluralForm["en"](positive), pluralForm["ru"](positive)}; got != want {
			t.Errorf("%d: got %v, want %v", n, got, want)
		}
	}
}

func TestRussianCounts(t *testing.T) {
	for n, want := range map[int64]string{
		1: "У вас 1 открытый заказ", 3: "У вас 3 открытых заказа", 5: "У вас 5 открытых заказов", 11: "У вас 11 открытых заказов",
		21: "У вас 21 открытый заказ", 0: "Открытых заказов у вас сейчас нет",
	} {
		p := orders.ReplyPayload{Locale: "ru-RU", OpenOrders: n}
		if plain := render(t, orders.TypeOpenOrders, encode(t, p)).Plain; !strings.Contains(plain, want) {
			t.Errorf("%d: %q is not in\n%s", n, want, plain)
		}
	}
	p := orders.Payload{Number: "1", Locale: "ru", Currency: "RUB", TotalCents: cents(123456), Items: make([]orders.Item, 3000)}
	plain := render(t, orders.TypePlaced, encode(t, p)).Plain
	for _, want := range []string{"… и ещё ", " позиц", "Итого: 1234,56\u00a0₽"} {
		if !strings.Contains(plain, want) {
			t.Errorf("%q is not in\n%s", want, plain[max(0, len(plain)-300):])
		}
	}
}

func TestAnswersFitWhateverIsInThem(t *testing.T) {
	long := strings.Repeat("Ж🎩<&", 2000)
	p := orders.ReplyPayload{CustomerName: long, OpenOrders: math.MaxInt64}
	for range 20 {
		p.Orders = append(p.Orders, orders.OpenOrder{Number: long, Status: long, Currency: "EUR", TotalCents: math.MinInt64})
	}
	for _, language := range []string{"en", "ru"} {
		p.Locale = language
		for _, messageType := range replyTypes {
			render(t, messageType, encode(t, p))
		}
	}
}

func TestPluralNeedsANumber(t *testing.T) {
	plural := functions("xx")["plural"].(func(any, ...string) (string, error))
	if got, err := plural(2, "one"); got != "one" || err != nil {
		t.Errorf("got %q, %v", got, err)
	}
	for _, call := range []func() (string, error){
		func() (string, error) { return plural("2", "one") },
		func() (string, error) { return plural(2) },
	} {
		if got, err := call(); err == nil {
			t.Errorf("got %q", got)
		}
	}
}
