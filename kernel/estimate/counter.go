package estimate

import "github.com/crystalkernel/crystal/points/model"

// Counter estimates a list that grows at its end. The list of a thread keeps its items where they are, so that what was
// counted once need not be looked at again; when the list was moved or rebuilt, it is counted anew. The zero value is
// ready. A Counter is not safe for use by several goroutines.
type Counter struct {
	first **model.Item // address of the counted list: a rebuilt list has another
	last  *model.Item
	n     int
	sum   int
	sends Sends
}

// Items estimates items.
func (c *Counter) Items(items []*model.Item, s Sends) int {
	if len(items) == 0 {
		return 0
	}
	first := &items[0]
	if c.n == 0 || c.first != first || c.sends != s || c.n > len(items) || items[c.n-1] != c.last {
		*c = Counter{sends: s}
	}
	c.sum += Items(items[c.n:], s)
	c.first, c.last, c.n = first, items[len(items)-1], len(items)
	return c.sum
}
