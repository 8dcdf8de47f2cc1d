package fault

import "github.com/agext/levenshtein"

// Nearest returns the candidate that the user may have meant by word: the one
// with the fewest edits, at most two; "" if there is none.
func Nearest(word string, candidates []string) string {
	best, distance := "", 3
	for _, c := range candidates {
		if d := levenshtein.Distance(word, c, nil); d < distance {
			best, distance = c, d
		}
	}
	return best
}
