package modelaccess

// Kept returns how many clients are kept.
func (a *Access) Kept() int {
	a.mu.Lock()
	defer a.mu.Unlock()
	return len(a.slots)
}
