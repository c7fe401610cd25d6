package generations

// HasLabels reports whether the calling goroutine has any.
func HasLabels() bool { return goroutineLabels() != nil }

// ParseProfile is the parser of goroutine profiles.
var ParseProfile = parseProfile
