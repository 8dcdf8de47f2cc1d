// Package answer holds what commands print with -o json to the published schema.
package answer

import (
	"bytes"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

// Fits holds an answer to the schema in a file, docs/output.schema.json.
func Fits(file string, answer []byte) error {
	v, err := jsonschema.UnmarshalJSON(bytes.NewReader(answer))
	if err != nil {
		return err
	}
	s, err := jsonschema.NewCompiler().Compile(file)
	if err != nil {
		return err
	}
	return s.Validate(v)
}
