package states

import (
	"strings"
	"testing"
)

// What a plan does about a state, besides that it runs: without holds what no command,
// text or kind of action may have, inOrder the kinds of actions in their order.
func TestSteps(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		without, inOrder []string
	}{
		"ebs behind, from Argo CD":                            {[]string{"oc -n openshift-cluster-csi-drivers set image"}, []string{"update-control-plane", "by-owner"}},
		"two drivers, one of them doesn't start":              {nil, []string{"by-hand", "wait-rollout"}},
		"nodes without WMCO, csi-proxy from a DaemonSet":      {[]string{"update-wmco"}, nil},
		"gcp-pd on Server 2022, a version without its image":  {[]string{"repair the pod"}, []string{"build-image", "update-control-plane", "build-image"}},
		"smb equal, to a release that no version is known of": {[]string{"pin its image"}, []string{"by-hand", "update-control-plane"}},
	} {
		asked := stateOf(t, name).asked(t, t.TempDir())
		said := run(t, append([]string{"skew"}, asked...)...).stdout
		kinds := " "
		for _, s := range steps(t, asked) {
			for _, a := range s.Actions {
				kinds += a.Kind + " "
				said += a.Kind + strings.Join(a.Commands, "\n")
			}
		}
		for _, words := range tc.without {
			if strings.Contains(said, words) {
				t.Errorf("%s: %q is in\n%s", name, words, said)
			}
		}
		rest := kinds
		for _, kind := range tc.inOrder {
			_, after, found := strings.Cut(rest, " "+kind+" ")
			if !found {
				t.Errorf("%s: no %s in its place:%s", name, kind, kinds)
			}
			rest = " " + after
		}
	}
}

func stateOf(t *testing.T, name string) *state {
	t.Helper()
	all := states()
	for i := range all {
		if all[i].name == name {
			return &all[i]
		}
	}
	t.Fatalf("there is no state %q", name)
	return nil
}
