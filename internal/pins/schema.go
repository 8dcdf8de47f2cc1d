package pins

import (
	"encoding/json"
	"fmt"

	"github.com/invopop/jsonschema"
)

// Schema returns the JSON Schema of versions.yaml, for editors. Parse is
// stricter, and tells lines and columns.
func Schema() ([]byte, error) {
	r := jsonschema.Reflector{RequiredFromJSONSchemaTags: true, Anonymous: true, ExpandedStruct: true}
	s := r.Reflect(&File{})
	s.Title = "versions.yaml of Winbake"
	data, err := json.MarshalIndent(s, "", "  ")
	if err != nil {
		return nil, fmt.Errorf("write the schema: %w", err)
	}
	return append(data, '\n'), nil
}
