package markup

import (
	"math"
	"slices"
)

// joinMarks adds those entities that may be cut to the others: pieces of one
// kind that touch become one, and each is cut where one of the others begins or
// ends. Both lists are in order.
func joinMarks(cut, others []Entity) []Entity {
	if len(cut) == 0 {
		return others
	}
	s := splitter{source: cut}
	var around []Entity
	arrive := func(offset int) {
		for len(around) > 0 && offset >= around[len(around)-1].end() {
			innermost := around[len(around)-1]
			before := len(s.pieces)
			s.advance(innermost.end())
			if innermost.kind().in(fixed) {
				s.pieces = s.pieces[:before] // code is not bold
			}
			around = around[:len(around)-1]
		}
		s.advance(offset)
	}
	for _, e := range others {
		arrive(e.Offset)
		around = append(around, e)
	}
	arrive(math.MaxInt)
	all := slices.Concat(others, s.pieces)
	sortEntities(all)
	return all
}

// splitter cuts and joins the entities of the kinds that allow it.
type splitter struct {
	source []Entity // those not yet looked at
	open   [splittable]struct{ begin, end int }
	pieces []Entity
}

// advance cuts everything at an offset.
func (s *splitter) advance(offset int) {
	for len(s.source) > 0 && s.source[0].Offset < offset {
		e := s.source[0]
		s.source = s.source[1:]
		open := &s.open[e.kind()]
		if open.end != 0 && e.Offset <= open.end {
			open.end = max(open.end, e.end())
			continue
		}
		s.flush(e.Offset)
		open.begin, open.end = e.Offset, e.end()
	}
	s.flush(offset)
}

// flush makes pieces of all that lies before an offset.
func (s *splitter) flush(offset int) {
	for k := range s.open {
		open := &s.open[k]
		if open.end == 0 || open.begin >= offset {
			continue
		}
		end := min(open.end, offset)
		s.pieces = append(s.pieces, Entity{Type: kindNames[k], Offset: open.begin, Length: end - open.begin})
		if open.begin = end; end == open.end {
			open.begin, open.end = 0, 0
		}
	}
}
