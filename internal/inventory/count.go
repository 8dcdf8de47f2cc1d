package inventory

import "strconv"

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
