package verify

import (
	"strings"
	"testing"

	"github.com/winbake/winbake/internal/base/finding"
	"github.com/winbake/winbake/internal/build/attest"
	"github.com/winbake/winbake/internal/build/pins"
	"github.com/winbake/winbake/internal/image/oci"
)

// Provenance of another builder counts, and says nothing of the pins; of several ours is
// compared.
func TestProvenanceOfOthers(t *testing.T) {
	const chains = `{"buildDefinition":{"buildType":"https://tekton.dev/chains/v2/slsa","resolvedDependencies":[{"uri":"a"}]},"runDetails":{"builder":{"id":"https://tekton.dev/chains/v2"}}}`
	ours := `{"buildDefinition":{"buildType":"` + attest.BuildType + `","externalParameters":{"versions.yaml":"x"}},"runDetails":{"builder":{"id":"https://ci.example"}}}`
	want := &pinned{file: &pins.File{Path: "none/versions.yaml"}}
	for _, c := range []struct {
		predicates []string
		want       *pinned
		severity   finding.Severity
		says       string
	}{
		{[]string{chains}, nil, finding.Pass, "built by https://tekton.dev/chains/v2 from 1 inputs, of the type https://tekton.dev/chains/v2/slsa, which doesn't tell its pins"},
		{[]string{chains}, want, finding.Pass, "doesn't tell its pins"},
		{[]string{ours}, nil, finding.Pass, "built by https://ci.example from 0 inputs"},
		{[]string{ours, chains}, want, finding.Block, "it was built from another none/versions"},
		{[]string{chains, ours}, want, finding.Block, "it was built from another none/versions"},
		{[]string{"{"}, nil, finding.Block, "it can't be read"},
		{nil, nil, finding.Block, "no provenance that this key signed"},
	} {
		var all []*attest.Statement
		for _, p := range c.predicates {
			all = append(all, &attest.Statement{PredicateType: attest.ProvenancePredicate, Predicate: []byte(p)})
		}
		f := provenOf(&oci.Source{}, map[string][]*attest.Statement{attest.ProvenancePredicate: all}, c.want)
		if f.Severity != c.severity || !strings.Contains(f.Observed, c.says) {
			t.Errorf("%q: %v %s", c.predicates, f.Severity, f.Observed)
		}
	}
}
