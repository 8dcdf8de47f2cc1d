package console

import (
	"fmt"
	"strings"
	"time"
	"unicode"
	"unicode/utf16"

	"github.com/sirupsen/logrus"

	"github.com/winbake/winbake/internal/printable"
)

// textFormat prints the message, after its level where that isn't info.
type textFormat struct{ color bool }

var levelColors = map[logrus.Level]string{logrus.ErrorLevel: "31", logrus.WarnLevel: "33", logrus.DebugLevel: "2"}

// Format implements logrus.Formatter.
func (f *textFormat) Format(e *logrus.Entry) ([]byte, error) {
	message := printable.Text(strings.TrimRight(e.Message, "\n")) + "\n"
	if e.Level == logrus.InfoLevel {
		return []byte(message), nil
	}
	level := e.Level.String() + ":"
	if f.color {
		level = "\x1b[" + levelColors[e.Level] + "m" + level + "\x1b[0m"
	}
	return []byte(level + " " + message), nil
}

// jsonFormat is logrus's own, fit for a terminal.
type jsonFormat struct{ logrus.JSONFormatter }

func newJSONFormat() *jsonFormat {
	return &jsonFormat{logrus.JSONFormatter{TimestampFormat: time.RFC3339, DisableHTMLEscape: true}}
}

// Format implements logrus.Formatter.
func (f *jsonFormat) Format(e *logrus.Entry) ([]byte, error) {
	e.Time = e.Time.UTC()
	line, err := f.JSONFormatter.Format(e)
	return cleanJSON(line), err
}

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
