package verify

import (
	"context"
	"errors"

	"github.com/winbake/winbake/internal/expect"
	"github.com/winbake/winbake/internal/finding"
	"github.com/winbake/winbake/internal/wine"
)

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
