package inventory

import (
	"fmt"
	"strconv"
	"strings"
)

// Many counts things for people: "1 file", "1,650 documents".
func Many(n int, what string) string {
	if n != 1 {
		what += "s"
	}
	return Thousands(n) + " " + what
}

// Thousands writes a number with commas: "1,650".
func Thousands(n int) string {
	s := strconv.Itoa(n)
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}

// Some lists the first of sorted names: "a, b, c, d, e and 3 more".
func Some(names []string) string {
	const most = 5
	if len(names) <= most {
		return strings.Join(names, ", ")
	}
	return fmt.Sprintf("%s and %d more", strings.Join(names[:most], ", "), len(names)-most)
}
