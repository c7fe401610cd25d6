package home

import (
	"slices"
	"strings"
)

// Gears are the words for a thinking gear that every host knows.
var Gears = []string{"default", "off", "minimal", "low", "medium", "high", "maximum"}

// providerGears are effort words that some providers use beside those.
var providerGears = []string{"none", "xhigh", "max", "auto"}

// ValidGear reports whether text has the form of a gear: a word, or digits for a token budget.
func ValidGear(text string) bool {
	if text == "" || len(text) > 32 {
		return false
	}
	for i, r := range strings.ToLower(text) {
		letter, digit := r >= 'a' && r <= 'z', r >= '0' && r <= '9'
		if !letter && !digit && (i == 0 || r != '-' && r != '_') {
			return false
		}
	}
	return budget(text) || text[0] < '0' || text[0] > '9'
}

// budget reports whether text is a token budget.
func budget(text string) bool {
	for _, r := range text {
		if r < '0' || r > '9' {
			return false
		}
	}
	return text != "" && len(text) <= 9 && text[0] != '0'
}

// KnownGear reports whether a gear that was typed means something: a word that every host knows, one that providers use,
// a budget, or a word that some model lists.
func (s *Settings) KnownGear(text string) bool {
	text = strings.ToLower(text)
	if slices.Contains(Gears, text) || slices.Contains(providerGears, text) || budget(text) {
		return true
	}
	for _, p := range s.Providers {
		for _, m := range p.Models {
			if slices.Contains(m.Thinking, text) {
				return true
			}
		}
	}
	return false
}
