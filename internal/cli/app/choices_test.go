package app

import (
	"bytes"
	"strings"
	"sync"
	"testing"

	"github.com/spf13/cobra"
)

func TestWrongChoices(t *testing.T) {
	for flag, value := range map[string]string{"--progress": "fancy", "--log-level": "panic", "--log-format": "xml", "--color": "yes"} {
		for _, byVariable := range []bool{false, true} {
			args, variable := []string{"run", flag, value}, envPrefix+strings.ToUpper(strings.ReplaceAll(flag[2:], "-", "_"))
			if byVariable {
				t.Setenv(variable, value)
				args = args[:1]
			}
			var stderr bytes.Buffer
			root := &cobra.Command{Use: "bake"}
			root.AddCommand(&cobra.Command{Use: "run", RunE: func(*cobra.Command, []string) error { return nil }})
			code := (&App{Stderr: &stderr}).Run(t.Context(), root, args)
			if code != 1 || !strings.Contains(stderr.String(), flag+` can't be "`+value) || !strings.Contains(stderr.String(), "fix: give "+flag+" one of ") {
				t.Errorf("%s: %d, %s", flag, code, &stderr)
			}
			if strings.Contains(stderr.String(), variable) != byVariable {
				t.Errorf("%s: the place is wrong: %s", flag, &stderr)
			}
		}
		t.Setenv(envPrefix+strings.ToUpper(strings.ReplaceAll(flag[2:], "-", "_")), "")
	}
}

// Commands that run side by side in one process, as tests do, share nothing.
func TestSideBySide(t *testing.T) {
	var all sync.WaitGroup
	for range 50 {
		all.Go(func() {
			var stdout bytes.Buffer
			root := &cobra.Command{Use: "bake", Run: func(*cobra.Command, []string) {}}
			root.Flags().String("release", "", "")
			if code := (&App{Stdout: &stdout}).Run(t.Context(), root, []string{"--help"}); code != 0 || !strings.Contains(stdout.String(), "--release string") {
				t.Errorf("%d, %s", code, &stdout)
			}
		})
	}
	all.Wait()
}

// A script's unset variable is no value; a flag that isn't given is another thing.
func TestEmptyValues(t *testing.T) {
	for arg, want := range map[string]string{"--release=": "--release has an empty value\nfix: set the variable", "--release=4.20": "", "": ""} {
		var stderr bytes.Buffer
		root, run := &cobra.Command{Use: "bake"}, &cobra.Command{Use: "run", RunE: func(*cobra.Command, []string) error { return nil }}
		run.Flags().String("release", "", "")
		root.AddCommand(run)
		args := []string{"run"}
		if arg != "" {
			args = append(args, arg)
		}
		if code := (&App{Stderr: &stderr}).Run(t.Context(), root, args); (code != 0) != (want != "") || !strings.Contains(stderr.String(), want) {
			t.Errorf("%q: %d, %s", arg, code, &stderr)
		}
	}
}
