package verify

import (
	"cmp"
	_ "embed"
	"slices"
	"sync"

	"go.yaml.in/yaml/v3"
)

// Severity says how bad a problem is.
type Severity string

// The severities of problems.
const (
	SeverityBlock   Severity = "block"   // the payload doesn't work or can't be trusted
	SeverityUnknown Severity = "unknown" // it couldn't be told
	SeverityWarn    Severity = "warn"
	SeverityInfo    Severity = "info"
)

// The IDs of the checks. They don't change: reports and accept lists hold
// them.
const (
	IDMissing           = "payload.missing"
	IDFormat            = "payload.format"
	IDGenerated         = "payload.generated"
	IDMode              = "payload.mode"
	IDSumMissingFile    = "payload.sum.missing-file"
	IDSumMalformed      = "payload.sum.malformed"
	IDSumUnlisted       = "payload.sum.unlisted"
	IDSumAbsent         = "payload.sum.absent"
	IDSumMismatch       = "payload.sum.mismatch"
	IDSumDuplicate      = "payload.sum.duplicate"
	IDBasenameDuplicate = "payload.basename.duplicate"
	IDFileUnexpected    = "payload.file.unexpected"
	IDFileMissing       = "payload.file.missing"
	IDFileDigest        = "payload.file.digest"
	IDTarUnsafe         = "payload.tar.unsafe"
	IDTarBomb           = "payload.tar.bomb"
	IDArchiveMalformed  = "payload.archive.malformed"
	IDWhiteoutHides     = "payload.whiteout.hides"
	IDLayerTable        = "payload.layer.table"
	IDVolume            = "payload.volume"
	IDExtrasUnexpected  = "payload.extras.unexpected"
	IDExtrasMissing     = "payload.extras.missing"
	IDExtrasDigest      = "payload.extras.digest"
	IDKept              = "payload.kept"
)

// Problem is one thing that is wrong with a payload.
type Problem struct {
	// ID names the check, one of the ID constants.
	ID       string
	Severity Severity
	// Object is the file or folder, as a path in the image. In a source of
	// several images the platform stands before it.
	Object   string
	Observed string
	Expected string
	// Why says what goes wrong if nothing is done.
	Why string
	// Remedy says what fixes it.
	Remedy string
}

//go:embed problems.yaml
var problemsYAML []byte

// grounds is what is the same in all problems of a check.
var grounds = sync.OnceValue(func() map[string]struct{ Why, Remedy string } {
	var file struct {
		Problems map[string]struct{ Why, Remedy string }
	}
	if err := yaml.Unmarshal(problemsYAML, &file); err != nil {
		panic(err) // a test reads it
	}
	return file.Problems
})

func problem(id, object, observed, expected string) Problem {
	g := grounds()[id]
	return Problem{
		ID: id, Severity: SeverityBlock, Object: object, Observed: observed, Expected: expected,
		Why: g.Why, Remedy: g.Remedy,
	}
}

// sortProblems orders by object, so that what is wrong with a file stands
// together, then by check.
func sortProblems(ps []Problem) {
	slices.SortStableFunc(ps, func(a, b Problem) int {
		return cmp.Or(cmp.Compare(a.Object, b.Object), cmp.Compare(a.ID, b.ID), cmp.Compare(a.Observed, b.Observed))
	})
}
