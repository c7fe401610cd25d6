package generations

// Labelled runs f on a goroutine that carries the labels of g already, as the code of g itself does.
func Labelled(g *Generation, f func()) {
	was := goroutineLabels()
	defer setGoroutineLabels(was)
	setGoroutineLabels(g.parts.core.labels)
	f()
}

// HasLabels reports whether the calling goroutine has any.
func HasLabels() bool { return goroutineLabels() != nil }

// ParseProfile is the parser of goroutine profiles.
var ParseProfile = parseProfile
