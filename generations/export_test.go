package generations

// Labelled runs f on a goroutine that carries the labels of g already, as the code of g itself does.
func Labelled(g *Generation, f func()) { _ = g.parts.core.inlineLabelled(f) }

func (c *core) inlineLabelled(f func()) error {
	was := goroutineLabels()
	defer setGoroutineLabels(was)
	setGoroutineLabels(c.labels)
	f()
	return nil
}
