package jsonc

import "strings"

// Near returns the word of known that was probably meant by word: equal without case, or at an edit distance of at most
// 2, the closest first. It returns blank when none is near.
func Near(word string, known []string) string {
	best, found := 3, ""
	for _, k := range known {
		if strings.EqualFold(k, word) {
			return k
		}
		// Words as short as the distance are near to everything.
		if d := distance([]rune(word), []rune(k)); d < best && d < len([]rune(k)) {
			best, found = d, k
		}
	}
	return found
}

// distance counts the insertions, deletions and substitutions that turn a into b.
func distance(a, b []rune) int {
	if diff := len(a) - len(b); diff > 2 || diff < -2 {
		return 3
	}
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range a {
		corner := row[0]
		row[0] = i + 1
		for j := range b {
			cost := corner
			if a[i] != b[j] {
				cost++
			}
			corner = row[j+1]
			row[j+1] = min(cost, row[j]+1, row[j+1]+1)
		}
	}
	return row[len(b)]
}
