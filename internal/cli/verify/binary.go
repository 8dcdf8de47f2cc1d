package verify

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/winbake/winbake/internal/base/fault"
	"github.com/winbake/winbake/internal/base/finding"
	"github.com/winbake/winbake/internal/base/infile"
	"github.com/winbake/winbake/internal/build/expect"
	"github.com/winbake/winbake/internal/report"
	"github.com/winbake/winbake/internal/wine"
)

func newBinary(t *tool) *cobra.Command {
	var file, component string
	var run bool
	cmd := &cobra.Command{
		Use:  "binary FILE...",
		Args: cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if component != "" && file == "" {
				return usage(cmd, "--component needs -f versions.yaml")
			}
			r := report.Report{Subject: strings.Join(args, " "), Checked: fmt.Sprintf("%d files", len(args))}
			for _, name := range args {
				fs, err := checkFile(name, file, component)
				if err != nil {
					return err
				}
				r.Findings = append(r.Findings, fs...)
			}
			if run {
				fs, err := runFiles(cmd.Context(), args, file, component)
				if err != nil {
					return err
				}
				r.Findings = append(r.Findings, fs...)
			}
			return t.finish(r)
		},
	}
	cmd.Flags().StringVarP(&file, "file", "f", "", "versions.yaml to compare with")
	cmd.Flags().StringVar(&component, "component", "", "component that the files are (default by file name)")
	cmd.Flags().BoolVar(&run, "run", false, "start them too, in Wine")
	return cmd
}

func checkFile(name, pinsFile, component string) ([]finding.Finding, error) {
	program, err := programFor(name, pinsFile, component)
	if err != nil {
		return nil, err
	}
	f, err := infile.Open(name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, &fault.Error{Where: name, What: "no such file", Fix: "check the path", Err: err}
	}
	if err != nil {
		return nil, fmt.Errorf("open the executable: %w", err)
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, fmt.Errorf("measure the executable: %w", err)
	}
	if !info.Mode().IsRegular() {
		return nil, &fault.Error{Where: name, What: "not a regular file", Fix: "name the executable itself; verify payload reads folders and images"}
	}
	return expect.File(name, f, info.Size(), program), nil
}

func programFor(name, pinsFile, component string) (*expect.Program, error) {
	if pinsFile == "" {
		return nil, nil
	}
	var only []string
	if component != "" {
		only = []string{component}
	}
	p, err := loadPinned(pinsFile, only)
	if err != nil {
		return nil, err
	}
	for place, program := range p.programs {
		if component != "" || strings.EqualFold(path.Base(place), filepath.Base(name)) {
			return program, nil
		}
	}
	return nil, &fault.Error{Where: name, What: "no component of " + pinsFile + " has this file name", Fix: "say which one it is: --component NAME"}
}

// runFiles starts each executable in Wine and judges what it says of itself.
func runFiles(ctx context.Context, files []string, pinsFile, component string) (fs []finding.Finding, err error) {
	prefix, err := wine.NewPrefix(ctx)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, prefix.Close()) }()
	for _, name := range files {
		program, err := programFor(name, pinsFile, component)
		if err != nil {
			return nil, err
		}
		r := expect.Run{Version: ask(ctx, prefix, name, "--version")}
		if r.Version.Err == nil && r.Version.Crash == "" && r.Version.Exit != 0 {
			r.Help = ask(ctx, prefix, name, "--help")
		}
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		fs = append(fs, program.Started(name, r)...)
	}
	return fs, nil
}

func ask(ctx context.Context, prefix *wine.Prefix, name, flag string) expect.Answer {
	o, err := prefix.Run(ctx, name, flag)
	return expect.Answer{Text: o.Text, Exit: int(o.Exit), Crash: o.Crash, Err: err}
}
