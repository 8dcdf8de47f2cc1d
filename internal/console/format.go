package console

import (
	"strings"
	"time"

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
	return []byte(printable.JSON(string(line))), err
}

// cleanLine is a printable line of what may have been several.
func cleanLine(s string) string {
	return printable.Line(strings.NewReplacer("\n", " ", "\t", " ").Replace(s))
}
