package script

import (
	"bytes"
	"encoding"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"maps"
	"os"
	"path"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/invopop/jsonschema"
	"github.com/spf13/cobra"

	"github.com/winbake/winbake/internal/base/finding"
	"github.com/winbake/winbake/internal/cli/app"
	"github.com/winbake/winbake/internal/cli/bake"
	"github.com/winbake/winbake/internal/cli/verify"
	"github.com/winbake/winbake/internal/report"
	"github.com/winbake/winbake/internal/report/skewreport"
	"github.com/winbake/winbake/test/support/answer"
)

const schemaFile = "../../docs/output.schema.json"

// kinds are what the commands print with -o json: a value of each one's type.
// Findings and skew's report have formats of their own, and so no kind in a flag.
func kinds(t *testing.T) map[string]any {
	all := map[string]any{"CheckReport": report.Document{}, "SkewReport": skewreport.Document{}}
	for _, cmd := range jsonCommands(t) {
		output, ok := cmd.Flag("output").Value.(*app.Output)
		if !ok {
			continue
		}
		for kind, sample := range output.Kinds {
			if other, taken := all[kind]; taken && reflect.TypeOf(other) != reflect.TypeOf(sample) {
				t.Errorf("%s: %s is %T and %T", cmd.CommandPath(), kind, sample, other)
			}
			all[kind] = sample
		}
	}
	return all
}

// otherAnswers are of commands whose answer is for another program as it is.
var otherAnswers = map[string]string{
	"bake manifests windows-services": "YAML for oc apply",
	"bake manifests setup-script":     "a script for cmd.exe",
	"bake schema":                     "a JSON schema for editors",
}

// jsonCommands are those that answer with JSON if asked.
func jsonCommands(t *testing.T) (all []*cobra.Command) {
	var visit func(*cobra.Command)
	visit = func(cmd *cobra.Command) {
		for _, sub := range cmd.Commands() {
			visit(sub)
		}
		switch path := cmd.CommandPath(); {
		case cmd.Flag("output") != nil:
			all = append(all, cmd)
		case cmd.IsAvailableCommand() && !cmd.HasAvailableSubCommands() && otherAnswers[path] == "":
			if _, cobras, _ := strings.Cut(path, " "); cobras != "help" && cobras != "options" && !strings.HasPrefix(cobras, "completion ") {
				t.Errorf("%s has no -o json", path)
			}
		}
	}
	for _, build := range []func(*app.App) *cobra.Command{bake.New, verify.New} {
		a := &app.App{Stdin: strings.NewReader(""), Stdout: io.Discard, Stderr: io.Discard}
		root := build(a)
		a.Run(t.Context(), root, []string{"--version"}) // adds what all commands have
		visit(root)
	}
	return all
}

// typeName is a type's package and name: two packages have a Driver.
func typeName(t reflect.Type) string {
	if t.Name() == "" {
		return ""
	}
	return path.Base(t.PkgPath()) + "." + t.Name()
}

// texts are types that write themselves as text.
func texts(t reflect.Type) *jsonschema.Schema {
	if !t.Implements(reflect.TypeFor[encoding.TextMarshaler]()) || t == reflect.TypeFor[time.Time]() {
		return nil
	}
	s := &jsonschema.Schema{Type: "string"}
	for v := finding.Pass; v <= finding.Block && t == reflect.TypeFor[finding.Severity](); v++ {
		s.Enum = append(s.Enum, v.String())
	}
	return s
}

// generate makes the schema of all that -o json prints, from the Go types.
func generate(t *testing.T) []byte {
	t.Helper()
	r := jsonschema.Reflector{Anonymous: true, AllowAdditionalProperties: true, Mapper: texts, Namer: typeName}
	t.Chdir("../..") // comments are found by import path + folder
	for _, folder := range []string{"internal/cluster/catalog", "internal/cli", "internal/build/compile", "internal/build/driver", "internal/base/finding", "internal/cluster/inventory", "internal/windows/deploy", "internal/windows/node", "internal/build/pins", "internal/report", "internal/skew"} {
		if err := r.AddGoComments("github.com/winbake/winbake", "./"+folder); err != nil {
			t.Fatal(err)
		}
	}
	all, types := kinds(t), map[string]any{}
	var branches []any
	for _, kind := range slices.Sorted(maps.Keys(all)) {
		sample := reflect.TypeOf(all[kind])
		list := sample.Kind() == reflect.Slice
		for sample.Kind() == reflect.Slice || sample.Kind() == reflect.Pointer {
			sample = sample.Elem()
		}
		s := r.ReflectFromType(sample)
		for name, d := range s.Definitions {
			types[name] = d
		}
		then := any(map[string]any{"$ref": s.Ref})
		if list {
			then = map[string]any{"required": []string{"items"}, "properties": map[string]any{"items": map[string]any{"type": "array", "items": then}}}
		}
		branches = append(branches, map[string]any{"if": map[string]any{"properties": map[string]any{"kind": map[string]any{"const": kind}}}, "then": then})
	}
	data, err := json.MarshalIndent(map[string]any{
		"$schema": "https://json-schema.org/draft/2020-12/schema",
		"title":   "What bake and verify print with -o json",
		"type":    "object", "required": []string{"apiVersion", "kind"},
		"properties": map[string]any{
			"apiVersion": map[string]any{"type": "string", "pattern": "^winbake[.]dev/[a-z]+/v1$", "description": "It is raised when a field changes its meaning or goes; fields may be added without."},
			"kind":       map[string]any{"enum": slices.Sorted(maps.Keys(all))},
		},
		"allOf": branches, "$defs": types,
	}, "", " ")
	if err != nil {
		t.Fatal(err)
	}
	return append(data, '\n')
}

func TestSchemaCurrent(t *testing.T) {
	file, err := filepath.Abs(schemaFile)
	if err != nil {
		t.Fatal(err)
	}
	got := generate(t)
	if *update {
		if err := os.WriteFile(file, got, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if want, err := os.ReadFile(file); err != nil || !bytes.Equal(got, want) {
		t.Errorf("docs/output.schema.json isn't what the types say (-update writes it again): %v", err)
	}
	for text, fits := range map[string]bool{
		`{"apiVersion":"winbake.dev/output/v1","kind":"ComponentList","items":[]}`:                    true,
		`{"apiVersion":"winbake.dev/output/v1","kind":"ComponentList","items":[{"component":"a"}]}`:   false,
		`{"apiVersion":"winbake.dev/output/v1","kind":"ComponentList"}`:                               false,
		`{"apiVersion":"winbake.dev/output/v1","kind":"Other"}`:                                       false,
		`{"apiVersion":"winbake.dev/output/v1","kind":"Version","version":1,"go":"a","platform":"b"}`: false,
		`[]`: false,
	} {
		if err := answer.Fits(file, []byte(text)); (err == nil) != fits {
			t.Errorf("%s: %v", text, err)
		}
	}
}

// Every -o that has json has kinds, or is one of those that report findings.
func TestEveryJSONHasAKind(t *testing.T) {
	if n := len(kinds(t)); n != 23 {
		t.Errorf("%d kinds", n)
	}
}

// judged runs a command, and holds its answer to the schema if it is JSON. Exit
// code 70 is that it doesn't fit.
func judged(build func(*app.App) *cobra.Command) func() {
	return func() {
		if !slices.Contains(os.Args, "json") || os.Getenv("SCHEMA") == "" || slices.Contains(os.Args, "--log-format") {
			os.Exit(app.Main(build))
		}
		stdout := os.Stdout
		r, w, err := os.Pipe()
		if err != nil {
			panic(err)
		}
		os.Stdout = w
		read := make(chan []byte)
		go func() {
			data, _ := io.ReadAll(r)
			read <- data
		}()
		var root *cobra.Command
		code := app.Main(func(a *app.App) *cobra.Command { root = build(a); return root }) // closes its stdout
		data := <-read
		_, _ = stdout.Write(data)
		if len(data) > 0 {
			err := answer.Fits(os.Getenv("SCHEMA"), data)
			if err == nil {
				err = note(os.Getenv("HELD"), root)
			}
			if err != nil {
				fmt.Fprintln(os.Stderr, err)
				code = 70
			}
		}
		os.Exit(code)
	}
}

// note makes a file for the command that ran: its answer fits the schema.
func note(folder string, root *cobra.Command) error {
	cmd, _, err := root.Find(os.Args[1:])
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(folder, cmd.CommandPath()), nil, 0o644)
}

// heldElsewhere are commands with -o json that no script runs.
var heldElsewhere = map[string]string{
	"bake verify-exe": "it compiles; the answer is that of bake cache path",
}

// everyCommandIsHeld asks for each command with -o json that a script has held an
// answer of it to the schema.
func everyCommandIsHeld(t *testing.T, folder string) {
	if t.Failed() || flag.Lookup("test.run").Value.String() != "" {
		return // not all scripts ran
	}
	for _, cmd := range jsonCommands(t) {
		if _, err := os.Stat(filepath.Join(folder, cmd.CommandPath())); err != nil && heldElsewhere[cmd.CommandPath()] == "" {
			t.Errorf("no script runs %s -o json", cmd.CommandPath())
		}
	}
}
