package cluster

import (
	"testing"

	"k8s.io/client-go/rest"
)

// Printed commands ask the same server as the same user: by the flags that were given, else
// by the context, else by the address.
func TestContext(t *testing.T) {
	for want, o := range map[string]Options{
		"--kubeconfig 'a b' --context prod ": {Given: []string{"--kubeconfig", "a b", "--context", "prod"}, Context: "other"},
		"--context prod ":                    {Context: "prod"},
		"--server https://10.0.0.1:6443 ":    {},
		"--context prod --as me --as-group g1 --as-group 'g 2' ": {Context: "prod", Config: &rest.Config{Impersonate: rest.ImpersonationConfig{
			UserName: "me", Groups: []string{"g1", "g 2"}}}},
	} {
		if o.Config == nil {
			o.Config = &rest.Config{}
		}
		r := &reader{o: o, host: "https://10.0.0.1:6443"}
		if got := r.context(); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
