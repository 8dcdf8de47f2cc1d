package skewreport

import (
	_ "embed"
	"slices"

	"github.com/winbake/winbake/internal/report"
)

//go:embed skew-report.schema.json
var schema []byte

// Schema returns the JSON Schema (draft 2020-12) of the JSON report. It is made
// from the Go model by this package's test.
func Schema() []byte { return slices.Clone(schema) }

func encodeJSON(d *Document, _ Options) (string, error) {
	return report.EncodeJSON(d.valid())
}
