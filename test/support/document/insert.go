// Package document writes what a bench measured into a document.
package document

import (
	"fmt"
	"os"
	"strings"
)

// Insert puts a table between the markers of its name in a document:
// <!-- name --> and <!-- /name -->, each on a line of its own.
func Insert(path, name, table string) error {
	begin, end := "<!-- "+name+" -->\n", "<!-- /"+name+" -->\n"
	data, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	head, rest, ok := strings.Cut(string(data), begin)
	_, tail, ok2 := strings.Cut(rest, end)
	if !ok || !ok2 {
		return fmt.Errorf("%s has no markers: add a line %sand one %s", path, begin, end)
	}
	return os.WriteFile(path, []byte(head+begin+table+end+tail), 0o644)
}
