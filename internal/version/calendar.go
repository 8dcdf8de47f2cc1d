package version

import "strings"

// Calendar tells whether d and o are calendar versions, year and month, as
// NetApp Trident's are (25.02.1, 25.10.0). A month with a leading zero proves
// it, and one of the two is enough; 25.4.0 alone may count anything.
func (d Driver) Calendar(o Driver) bool {
	return d.yearMonth() && o.yearMonth() && (d.paddedMonth() || o.paddedMonth())
}

func (d Driver) yearMonth() bool {
	return d.Major >= 15 && d.Major < 100 && d.Minor >= 1 && d.Minor <= 12
}

func (d Driver) paddedMonth() bool {
	_, rest, _ := strings.Cut(d.written, ".")
	return strings.HasPrefix(rest, "0")
}

// OtherMajor tells whether a major version lies between d and o. Between
// calendar versions there is none: the first number is the year.
func (d Driver) OtherMajor(o Driver) bool { return d.Major != o.Major && !d.Calendar(o) }

// Distance is d minus o in minors, or in months where they are calendar
// versions. It means something where OtherMajor is false.
func (d Driver) Distance(o Driver) int {
	n := int(d.Minor) - int(o.Minor)
	if d.Calendar(o) {
		n += 12 * (int(d.Major) - int(o.Major))
	}
	return n
}
