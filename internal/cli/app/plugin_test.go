package app

import "testing"

func TestCalledAs(t *testing.T) {
	for program, want := range map[string]string{
		"/usr/bin/verify":            "verify",
		"/home/a/kubectl-winbake":    "kubectl winbake",
		"kubectl-winbake.exe":        "kubectl winbake",
		"/home/kubectl-a/oc-winbake": "oc winbake",
		"renamed":                    "verify",
	} {
		if got := calledAs("verify", program); got != want {
			t.Errorf("%s: %q", program, got)
		}
	}
}
