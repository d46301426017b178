package markup

import "slices"

// fit makes entities fit into each other: those that may not overlap are
// dropped, the rest are cut and joined. The result is in order.
func fit(list []Entity) []Entity {
	sortEntities(list)
	if fits(list) {
		return list
	}
	whole, quotations, cut := sorted(list)
	whole = apart(whole)
	if len(quotations) > 0 {
		quotations = apart(quotations)
		whole = append(inQuotations(whole, quotations), quotations...)
		sortEntities(whole)
	}
	return joinMarks(cut, whole)
}

// sorted parts entities by how they may lie to each other.
func sorted(list []Entity) (whole, quotations, cut []Entity) {
	for _, e := range list {
		switch k := e.kind(); {
		case k.in(marks):
			cut = append(cut, e)
		case k.in(quotes):
			quotations = append(quotations, e)
		default:
			whole = append(whole, e)
		}
	}
	return whole, quotations, cut
}

// fits tells whether entities, in order, can stay as they are.
func fits(list []Entity) bool {
	var ends [splittable]int
	for i := range ends {
		ends[i] = -1
	}
	var around []Entity
	var kindsAround mask
	for _, e := range list {
		for len(around) > 0 && e.Offset >= around[len(around)-1].end() {
			kindsAround &^= around[len(around)-1].kind().bit()
			around = around[:len(around)-1]
		}
		k := e.kind()
		if n := len(around); n > 0 && (e.end() > around[n-1].end() || !k.fitsInto(kindsAround, around[n-1].kind())) {
			return false
		}
		if k.in(marks) {
			if ends[k] >= e.Offset {
				return false // they are to be joined
			}
			ends[k] = e.end()
		}
		around = append(around, e)
		kindsAround |= k.bit()
	}
	return true
}

// fitsInto tells whether an entity may lie in others, of which the innermost is
// given.
func (k kind) fitsInto(around mask, innermost kind) bool {
	switch {
	case k.in(around), innermost.in(fixed), around&marks != 0:
		return false
	case k.in(fixed):
		return around&^quotes == 0
	case k.in(continuous), k.in(quotes):
		return around&continuous == 0 && !(k.in(quotes) && around&quotes != 0)
	}
	return true
}

// apart drops every entity that begins before the one that is kept before it
// ends.
func apart(list []Entity) []Entity {
	end := 0
	return slices.DeleteFunc(list, func(e Entity) bool {
		if e.Offset < end {
			return true
		}
		end = e.end()
		return false
	})
}

// inQuotations drops the entities that begin outside a quotation and end inside
// it, or the other way round. Both lists lie apart.
func inQuotations(list, quotations []Entity) []Entity {
	i := 0
	return slices.DeleteFunc(list, func(e Entity) bool {
		for i < len(quotations) && quotations[i].end() <= e.Offset {
			i++
		}
		if i == len(quotations) {
			return false
		}
		q := quotations[i]
		return q.end() < e.end() || e.Offset < q.Offset && q.Offset < e.end()
	})
}

// joinFound adds what the server found by itself to entities in order. Found
// ones give way to others.
func joinFound(list, found []Entity) []Entity {
	if len(found) == 0 {
		return list
	}
	whole, quotations, cut := sorted(list)
	found = inQuotations(found, quotations)
	whole = merge(whole, found)
	if len(quotations) > 0 {
		whole = append(whole, quotations...)
		sortEntities(whole)
	}
	return joinMarks(cut, whole)
}

// merge puts those found between the others, if they overlap none of them.
func merge(others, found []Entity) []Entity {
	var merged []Entity
	i := 0
	for _, e := range others {
		for i < len(found) && found[i].end() <= e.Offset {
			merged = append(merged, found[i])
			i++
		}
		merged = append(merged, e)
		for i < len(found) && found[i].Offset < e.end() {
			i++
		}
	}
	return append(merged, found[i:]...)
}
