package verify

import (
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
	"github.com/winbake/winbake/internal/cluster/inventory"
	"github.com/winbake/winbake/internal/report"
)

func newBinary(t *tool) *cobra.Command {
	var file, component string
	cmd := &cobra.Command{
		Use:  "binary FILE...",
		Args: cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if component != "" && file == "" {
				return usage(cmd, "--component needs -f versions.yaml")
			}
			r := report.Report{Subject: strings.Join(args, " "), Checked: inventory.Many(len(args), "file")}
			for _, name := range args {
				fs, err := checkFile(name, file, component)
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
