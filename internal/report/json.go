package report

import (
	"bytes"
	"encoding/json"
	"fmt"
	"reflect"
	"strings"

	"github.com/winbake/winbake/internal/base/finding"
	"github.com/winbake/winbake/internal/base/printable"
)

// SchemaVersion is raised when a field of the JSON report changes its meaning
// or goes; fields may be added without.
const SchemaVersion = 1

// APIVersion is that of answers for programs (-o json). It is raised when a field
// changes its meaning or goes; fields may be added without.
const APIVersion = "winbake.dev/output/v1"

// Document is what -o json prints of a check.
type Document struct {
	SchemaVersion int              `json:"schemaVersion"`
	Tool          string           `json:"tool,omitempty"`
	Version       string           `json:"version,omitempty"`
	Subject       string           `json:"subject"`
	Checked       string           `json:"checked,omitempty"`
	Verdict       finding.Severity `json:"verdict"` // of the worst finding
	// Counts has every severity, by name.
	Counts   map[string]int    `json:"counts"`
	Findings []finding.Finding `json:"findings"`
	Notes    []string          `json:"notes,omitempty"`
}

func encodeJSON(r Report) (string, error) {
	d := Document{
		SchemaVersion: SchemaVersion,
		Tool:          r.Tool, Version: r.Version,
		Subject: r.Subject, Checked: r.Checked, Notes: r.Notes,
		Verdict:  finding.Worst(r.Findings),
		Counts:   map[string]int{},
		Findings: append([]finding.Finding{}, r.Findings...), // none is a list too
	}
	for s := finding.Pass; s <= finding.Block; s++ {
		d.Counts[s.String()] = finding.Count(r.Findings, s)
	}
	return Envelope("CheckReport", d)
}

// Envelope is v as programs read it: an object with apiVersion and kind, and v's
// fields next to them; a list is in items. What has an apiVersion of its own stays.
func Envelope(kind string, v any) (string, error) {
	text, err := EncodeJSON(v)
	if err != nil || strings.HasPrefix(text, "{\n  \"apiVersion\"") {
		return text, err
	}
	head, text := fmt.Sprintf(`{"apiVersion":%q,"kind":%q,`, APIVersion, kind), strings.TrimSpace(text)
	if fields, ok := strings.CutPrefix(text, "{"); ok {
		return EncodeJSON(json.RawMessage(head + fields))
	}
	if text == "null" {
		text = "[]" // none is a list too
	}
	return EncodeJSON(json.RawMessage(head + `"items":` + text + "}"))
}

// EncodeJSON writes v indented, with everything escaped that a terminal would
// act upon; the values stay the same.
func EncodeJSON(v any) (string, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetIndent("", "  ")
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return "", fmt.Errorf("encode JSON: %w", err)
	}
	return printable.JSON(b.String()), nil
}

// MapStrings returns a deep copy of v with f over each string in it, map keys
// too. It works on all fields there are, so that none that is added later can
// be forgotten.
func MapStrings[T any](v T, f func(field, s string) string) T {
	return mapValue(reflect.ValueOf(v), "", f).Interface().(T)
}

func mapValue(v reflect.Value, field string, f func(field, s string) string) reflect.Value {
	out := reflect.New(v.Type()).Elem()
	switch v.Kind() {
	case reflect.String:
		out.SetString(f(field, v.String()))
	case reflect.Pointer:
		if !v.IsNil() {
			out.Set(reflect.New(v.Type().Elem()))
			out.Elem().Set(mapValue(v.Elem(), field, f))
		}
	case reflect.Struct:
		for i := range v.NumField() {
			out.Field(i).Set(mapValue(v.Field(i), v.Type().Field(i).Name, f))
		}
	case reflect.Slice:
		if !v.IsNil() {
			out.Set(reflect.MakeSlice(v.Type(), v.Len(), v.Len()))
		}
		for i := range v.Len() {
			out.Index(i).Set(mapValue(v.Index(i), field, f))
		}
	case reflect.Map:
		if !v.IsNil() {
			out.Set(reflect.MakeMapWithSize(v.Type(), v.Len()))
		}
		for key, value := range v.Seq2() {
			out.SetMapIndex(mapValue(key, field, f), mapValue(value, field, f))
		}
	default:
		out.Set(v)
	}
	return out
}
