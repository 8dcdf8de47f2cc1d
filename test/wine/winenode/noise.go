package winenode

import (
	"bytes"
	"io"
)

// noise begins the line that Wine writes to a program's stderr where a process ends
// while its connection to wineserver is in use. Windows has no such line.
const noise = "wine client error:"

// withoutNoise passes on what a program writes, less Wine's own lines. It holds back
// the beginning of a line only as long as that may become one of them.
type withoutNoise struct {
	to   io.Writer
	held []byte
	rest bool // of a line whose beginning was passed on
}

func (w *withoutNoise) Write(p []byte) (int, error) {
	var out []byte
	for line := range bytes.Lines(p) {
		ends := line[len(line)-1] == '\n'
		if !w.rest {
			w.held = append(w.held, line...)
			line = w.held
			if bytes.HasPrefix(line, []byte(noise)) {
				if ends {
					w.held = nil
				}
				continue
			}
			if bytes.HasPrefix([]byte(noise), line) {
				continue
			}
			w.held = nil
		}
		out = append(out, line...)
		w.rest = !ends
	}
	if len(out) == 0 {
		return len(p), nil
	}
	_, err := w.to.Write(out)
	return len(p), err
}

// flush passes on what was held back and is no line of Wine's.
func (w *withoutNoise) flush() {
	if !bytes.HasPrefix(w.held, []byte(noise)) {
		_, _ = w.to.Write(w.held)
	}
	w.held = nil
}
