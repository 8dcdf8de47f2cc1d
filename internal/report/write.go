package report

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/winbake/winbake/internal/base/fault"
	"github.com/winbake/winbake/internal/base/finding"
)

// Write writes r in one of Formats; another format is a fault. The order of
// r.Findings doesn't matter: reports are always worst first.
func Write(w io.Writer, format string, r Report, o Options) error {
	r.Findings = slices.Clone(r.Findings)
	finding.Sort(r.Findings)
	r.FailOn = cmp.Or(r.FailOn, finding.DefaultFailOn)
	var out string
	var err error
	switch format {
	case "text":
		out = text(r, o)
	case "json":
		out, err = encodeJSON(r)
	case "junit":
		out, err = encodeJUnit(r)
	default:
		return &fault.Error{
			What: fmt.Sprintf("unknown output format %q", format),
			Fix:  "-o " + strings.Join(Formats, ", -o "),
		}
	}
	if err == nil {
		_, err = io.WriteString(w, out)
	}
	if err != nil {
		return fmt.Errorf("write the report: %w", err)
	}
	return nil
}
