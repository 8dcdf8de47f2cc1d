package console

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf16"

	"github.com/winbake/winbake/internal/printable"
)

// cleanLine is a printable line of what may have been several.
func cleanLine(s string) string {
	return printable.Line(strings.NewReplacer("\n", " ", "\t", " ").Replace(s))
}

// cleanJSON escapes in JSON what encoding/json lets through and a terminal
// would act upon: C1 controls and marks of direction.
func cleanJSON(data []byte) []byte {
	var b strings.Builder
	for _, r := range string(data) {
		switch {
		case r == '\n' || unicode.IsPrint(r):
			b.WriteRune(r)
		case r > 0xffff:
			hi, lo := utf16.EncodeRune(r)
			fmt.Fprintf(&b, `\u%04x\u%04x`, hi, lo)
		default:
			fmt.Fprintf(&b, `\u%04x`, r)
		}
	}
	return []byte(b.String())
}
