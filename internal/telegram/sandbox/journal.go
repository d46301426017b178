package sandbox

// journal is an append-only list that forgets its oldest entries when it grows
// beyond a count or a size.
type journal[T any] struct {
	maxEntries int
	maxBytes   int
	forget     func(T) // is told what was forgotten
	entries    []T
	sizes      []int
	bytes      int
}

// add appends an entry of about so many bytes.
func (j *journal[T]) add(entry T, size int) {
	j.entries = append(j.entries, entry)
	j.sizes = append(j.sizes, size)
	j.bytes += size
	excess := 0
	for len(j.entries)-excess > 1 && (len(j.entries)-excess > j.maxEntries || j.bytes > j.maxBytes) {
		j.bytes -= j.sizes[excess]
		if j.forget != nil {
			j.forget(j.entries[excess])
		}
		excess++
	}
	if excess > 0 {
		clear(j.entries[:excess]) // let go of what they point to
		j.entries, j.sizes = j.entries[excess:], j.sizes[excess:]
	}
}
