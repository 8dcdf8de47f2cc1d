package verify

import (
	"cmp"
	"slices"
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
	// Remedy says what mends it.
	Remedy string
}

const (
	remedyRebuild = "bake payload again from versions.yaml, and push that image"
	remedySource  = "take the image from where it was built: these bytes aren't its builder's"
	remedyPins    = "change versions.yaml or bake the payload again, whichever is right"
	whyOperator   = "the Windows Machine Config Operator stops at start or can't configure a node"
	whyTampered   = "the file on the node wouldn't be the one that was built"
)

// grounds holds what is the same in all problems of a check.
var grounds = map[string]struct{ why, remedy string }{
	IDMissing: {"there is nothing that could be copied to a Windows node",
		"give the operator's image or a payload image; a wrong reference is the usual cause"},
	IDFormat: {"the operator of a release reads one format: flat up to 4.20, archived from 4.21",
		"bake the payload again in that format, or with the right release in versions.yaml"},
	IDGenerated: {"the operator writes network-conf.ps1 there when it starts", remedyRebuild},
	IDMode:      {"the operator runs as user 1001 and not as root", "chmod -R 644, chmod -R +X the payload, and chmod 777 its generated/"},
	IDSumMissingFile: {"the operator of 4.21 and later reads /payload/sha256sum at start and stops without it",
		remedyRebuild},
	IDSumMalformed:      {"the operator splits each line at two spaces and stops at any other", remedyRebuild},
	IDSumUnlisted:       {"the operator stops at a file without a checksum", remedyRebuild},
	IDSumAbsent:         {"a file was lost after the checksums were made", remedyRebuild},
	IDSumMismatch:       {whyTampered + "; the operator copies it again and again", remedySource},
	IDSumDuplicate:      {"the operator keys checksums by base name and stops at the second", remedyRebuild},
	IDBasenameDuplicate: {"checksums go by base name, and Windows doesn't tell upper from lower case", "rename one of them in versions.yaml"},
	IDFileUnexpected:    {"what no pin accounts for gets onto the nodes", remedyPins},
	IDFileMissing:       {whyOperator, remedyPins},
	IDFileDigest:        {whyTampered, remedySource},
	IDTarUnsafe:         {"unpacking it could write or run something elsewhere", remedySource},
	IDTarBomb:           {"reading on would take all memory, disk or time; nothing was unpacked", remedySource},
	IDArchiveMalformed:  {"the node unpacks it with tar -xzf and expects that one file", remedyRebuild},
	IDWhiteoutHides:     {"container engines disagree whether a whiteout hides its own layer's files", remedyRebuild},
	IDLayerTable: {"an engine may take files from the table of contents that it names, and not from the tar, which alone is checked",
		"copy the image without it: skopeo copy --dest-compress-format gzip docker://IMAGE docker://COPY; or trust whoever pushed it, and accept this"},
	IDVolume:           {"the engine mounts another folder over it, so the container has none of these files, or others", remedySource},
	IDExtrasUnexpected: {"verify.exe runs on nodes as an administrator, and node.json says what is put there: nothing else belongs beside them", remedySource},
	IDExtrasMissing:    {"a layer above took it away, so no node can be installed or checked from this image", remedySource},
	IDExtrasDigest:     {"verify.exe runs on nodes as an administrator, and node.json says what is put there", remedySource},
	IDKept:             {"the operator lacks a file of its own release, or has another one", remedySource},
}

func problem(id, object, observed, expected string) Problem {
	g := grounds[id]
	return Problem{
		ID: id, Severity: SeverityBlock, Object: object, Observed: observed, Expected: expected,
		Why: g.why, Remedy: g.remedy,
	}
}

func warning(id, object, observed, expected string) Problem {
	p := problem(id, object, observed, expected)
	p.Severity = SeverityWarn
	return p
}

// sortProblems orders by object, so that what is wrong with a file stands
// together, then by check.
func sortProblems(ps []Problem) {
	slices.SortStableFunc(ps, func(a, b Problem) int {
		return cmp.Or(cmp.Compare(a.Object, b.Object), cmp.Compare(a.ID, b.ID), cmp.Compare(a.Observed, b.Observed))
	})
}
