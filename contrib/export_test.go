package contrib

// SetEagerLists makes lists of n elements and more wait for their first reader, and returns what undoes that.
func SetEagerLists(n int) (undo func()) {
	before := eagerLists
	eagerLists = n
	return func() { eagerLists = before }
}
