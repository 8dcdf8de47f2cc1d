package answer

import (
	"encoding/xml"
	"slices"
	"strings"
)

// Commands are the command lines that an answer file has run, in their order;
// what can't be read any more has none.
func Commands(data []byte) []string {
	text, err := Text(data)
	if err != nil {
		return nil
	}
	var out, path []string
	for d := decoder(text); ; {
		token, err := d.Token()
		if err != nil {
			return out
		}
		switch t := token.(type) {
		case xml.StartElement:
			path = append(path, t.Name.Local)
		case xml.EndElement:
			path = path[:len(path)-1]
		case xml.CharData:
			if line := strings.TrimSpace(string(t)); line != "" && len(path) > 1 && slices.Contains(runners[path[len(path)-1]], path[len(path)-2]) {
				out = append(out, line)
			}
		}
	}
}
