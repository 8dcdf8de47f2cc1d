package image

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/winbake/winbake/internal/base/fault"
	"github.com/winbake/winbake/internal/base/finding"
	"github.com/winbake/winbake/internal/base/shell"
	"github.com/winbake/winbake/internal/build/expect"
	"github.com/winbake/winbake/internal/build/wanted"
	"github.com/winbake/winbake/internal/report"
	"github.com/winbake/winbake/internal/windows/deploy"
	"github.com/winbake/winbake/internal/windows/pe"
	"github.com/winbake/winbake/payload"
	"github.com/winbake/winbake/payload/verify"
)

// Check reads the whole payload as `verify payload` does, and holds it to its
// node.json. What is BLOCK or UNKNOWN is an error that lists all of it.
func (im *Image) Check(ctx context.Context) error {
	var programs []finding.Finding
	unsigned := map[string]string{}
	problems, summary, err := verify.Check(ctx, im.Source, verify.Options{Executable: func(name string, r io.ReaderAt, size int64) {
		programs = append(programs, expect.File(payload.Root+"/"+name, r, size, nil)...)
		if f, err := pe.Read(r, size); err == nil {
			unsigned[name], _ = f.Unsigned() // a signature that can't be read is none
		}
	}})
	if err != nil {
		return err
	}
	found := slices.Concat(deploy.Findings(problems), programs)
	for _, i := range summary.Images {
		found = append(found, wanted.Check(payload.ExtrasRoot+"/"+payload.ExpectationName, i.Extras.Expectation, i.Files, unsigned, nil)...)
	}
	if finding.Worst(found) >= finding.Unknown {
		return failed(im.Source.Reference(), found)
	}
	return nil
}

// failed is the error for a payload that nothing should be built of.
func failed(reference string, found []finding.Finding) error {
	var text strings.Builder
	_ = report.Write(&text, "text", report.Report{Subject: reference, Findings: found}, report.Options{}) // a Builder takes everything
	return &fault.Error{Where: reference, What: fmt.Sprintf("the payload isn't sound: %d BLOCK, %d UNKNOWN", finding.Count(found, finding.Block), finding.Count(found, finding.Unknown)),
		Excerpt: text.String(), Fix: "verify payload " + shell.Word(reference), Code: finding.DefaultFailOn.ExitCode(found)}
}
