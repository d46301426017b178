package text

import (
	"html/template"
	"sort"

	"notifier/internal/orders"
)

// bounds are the lengths to which values from outside are shortened, one after the other, when an
// order is too long for one message; in UTF-16 code units, 0: not at all. With the last one any
// order fits.
var bounds = []int{0, 1000, 300, 100, 40}

// fit makes the longest text of an order that Telegram takes. Items are left out from the end, as
// whole lines; only when not even one has room are the values themselves shortened.
func fit(t *template.Template, p orders.Payload, m money) (Text, error) {
	for _, bound := range bounds {
		best, shown, err := mostItems(t, p, m, bound)
		if err != nil || shown > 0 || len(p.Items) == 0 && fitsMessage(best) {
			return best, err
		}
	}
	last, err := execute(t, newView(p, m, bounds[len(bounds)-1], 0))
	if err == nil && !fitsMessage(last) {
		err = templateError("the template " + t.Name() + " makes a text that is too long or blank")
	}
	return last, err
}

// mostItems makes the text with as many items as fit, and says how many those are. With none shown
// the text may be too long all the same.
func mostItems(t *template.Template, p orders.Payload, m money, bound int) (best Text, shown int, err error) {
	items := roomFor(p.Items, bound)
	best, err = execute(t, newView(p, m, bound, items))
	if err != nil || fitsMessage(best) {
		return best, items, err
	}
	// The search asks for fewer after a miss and for more after a hit, so the last hit is the longest.
	shown = sort.Search(items, func(n int) bool {
		made, err := execute(t, newView(p, m, bound, n+1))
		if err != nil || !fitsMessage(made) {
			return true
		}
		best = made
		return false
	})
	return best, shown, nil
}

// roomFor is how many items could be shown if there were nothing else. It spares making texts
// that are far too long.
func roomFor(items []orders.Item, bound int) int {
	left := maxUnits
	for i, item := range items {
		size := units(item.Name)
		if bound > 0 {
			size = min(size, bound)
		}
		if left -= max(size, 1); left < 0 {
			return i
		}
	}
	return len(items)
}

func fitsMessage(t Text) bool {
	return units(t.Plain) <= maxUnits && len(t.HTML) <= maxBytes && !blank(t.Plain)
}
