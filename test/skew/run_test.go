package skew

import (
	"bytes"
	"strings"
	"testing"

	"github.com/winbake/winbake/internal/cli/app"
	"github.com/winbake/winbake/internal/cli/verify"
)

// today is the day on which every example is judged, 2026-11-20: the catalog's
// age is in reports.
const today = "1795132800"

// output is what a run of the command left.
type output struct {
	stdout, stderr string
	exit           int
}

// run runs verify in this process, as its main does.
func run(t *testing.T, args ...string) output {
	t.Helper()
	t.Setenv("SOURCE_DATE_EPOCH", today)
	t.Setenv("NO_COLOR", "1")
	var stdout, stderr bytes.Buffer
	a := &app.App{Stdin: strings.NewReader(""), Stdout: &stdout, Stderr: &stderr}
	code := a.Run(t.Context(), verify.New(a), args)
	out := output{stdout.String(), stderr.String(), code}
	// The version is that of the build, and no part of the answer.
	out.stdout = strings.ReplaceAll(out.stdout, `"version": "`+app.Version()+`"`, `"version": "devel"`)
	return out
}
