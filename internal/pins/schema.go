package pins

import (
	"encoding/json"
	"fmt"
	"slices"

	"github.com/invopop/jsonschema"
)

// Schema returns the JSON Schema of versions.yaml, for editors. Parse is
// stricter, and tells lines and columns.
func Schema() ([]byte, error) {
	r := jsonschema.Reflector{RequiredFromJSONSchemaTags: true, Anonymous: true, ExpandedStruct: true}
	s := r.Reflect(&File{})
	driver := *s.Definitions["Component"] // an image of its own, with no path in the payload
	driver.Required = slices.DeleteFunc(slices.Clone(driver.Required), func(key string) bool { return key == "payload" })
	s.Definitions["Driver"] = &driver
	if drivers, ok := s.Properties.Get("drivers"); ok {
		drivers.Items = &jsonschema.Schema{Ref: "#/$defs/Driver"}
	}
	s.AnyOf = []*jsonschema.Schema{{Required: []string{"components"}}, {Required: []string{"drivers"}}}
	s.Title = "versions.yaml of Winbake"
	data, err := json.MarshalIndent(s, "", "  ")
	if err != nil {
		return nil, fmt.Errorf("write the schema: %w", err)
	}
	return append(data, '\n'), nil
}
