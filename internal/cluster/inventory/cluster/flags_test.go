package cluster_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/spf13/pflag"
	"k8s.io/client-go/rest"

	"github.com/winbake/winbake/internal/base/fault"
	"github.com/winbake/winbake/internal/cluster/inventory/cluster"
)

const kubeconfig = `
apiVersion: v1
kind: Config
clusters:
- {name: east, cluster: {server: "https://east.example.com:6443"}}
- {name: west, cluster: {server: "https://west.example.com:6443"}}
users:
- {name: ann, user: {token: anns}}
- {name: bob, user: {token: bobs}}
contexts:
- {name: ann@east, context: {cluster: east, user: ann}}
- {name: bob@west, context: {cluster: west, user: bob}}
current-context: ann@east
`

// alone keeps the machine's own kubeconfig out of a test.
func alone(t *testing.T) {
	t.Helper()
	t.Setenv("KUBECONFIG", filepath.Join(t.TempDir(), "none"))
	t.Setenv("HOME", t.TempDir())
	t.Setenv("KUBERNETES_SERVICE_HOST", "")
}

func file(t *testing.T, text string) string {
	t.Helper()
	name := filepath.Join(t.TempDir(), "kubeconfig")
	if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return name
}

func config(t *testing.T, args ...string) (*rest.Config, string, error) {
	t.Helper()
	var f cluster.Flags
	fs := pflag.NewFlagSet("verify", pflag.ContinueOnError)
	f.Register(fs)
	if err := fs.Parse(args); err != nil {
		t.Fatal(err)
	}
	return f.Config()
}

func TestFlags(t *testing.T) {
	alone(t)
	known := file(t, kubeconfig)
	t.Setenv("KUBECONFIG", known)
	for name, c := range map[string]struct {
		args          []string
		host, context string
		check         func(*rest.Config) bool
	}{
		"current context": {nil, "https://east.example.com:6443", "ann@east", func(c *rest.Config) bool { return c.BearerToken == "anns" }},
		"--kubeconfig":    {[]string{"--kubeconfig", file(t, strings.ReplaceAll(kubeconfig, "east", "north"))}, "https://north.example.com:6443", "ann@north", nil},
		"--context":       {[]string{"--context=bob@west"}, "https://west.example.com:6443", "bob@west", func(c *rest.Config) bool { return c.BearerToken == "bobs" }},
		"--cluster":       {[]string{"--cluster=west"}, "https://west.example.com:6443", "ann@east", func(c *rest.Config) bool { return c.BearerToken == "anns" }},
		"--user":          {[]string{"--user=bob"}, "https://east.example.com:6443", "ann@east", func(c *rest.Config) bool { return c.BearerToken == "bobs" }},
		"--server":        {[]string{"-s", "https://10.0.0.1:6443"}, "https://10.0.0.1:6443", "ann@east", nil},
		"--token":         {[]string{"--token=other"}, "https://east.example.com:6443", "ann@east", func(c *rest.Config) bool { return c.BearerToken == "other" }},
		"--as": {
			[]string{"--as=eve", "--as-group=a", "--as-group=b", "--as-uid=7", "--as-user-extra=scopes=view", "--as-user-extra=scopes=edit"},
			"https://east.example.com:6443", "ann@east",
			func(c *rest.Config) bool {
				i := c.Impersonate
				return i.UserName == "eve" && i.UID == "7" && len(i.Groups) == 2 && strings.Join(i.Extra["scopes"], " ") == "view edit"
			},
		},
		"--insecure-skip-tls-verify": {[]string{"--insecure-skip-tls-verify"}, "https://east.example.com:6443", "ann@east", func(c *rest.Config) bool { return c.Insecure }},
		"a minute a request":         {nil, "https://east.example.com:6443", "ann@east", func(c *rest.Config) bool { return c.Timeout == time.Minute }},
		"--request-timeout":          {[]string{"--request-timeout=5s"}, "https://east.example.com:6443", "ann@east", func(c *rest.Config) bool { return c.Timeout == 5*time.Second }},
		"--request-timeout=0":        {[]string{"--request-timeout=0"}, "https://east.example.com:6443", "ann@east", func(c *rest.Config) bool { return c.Timeout == 0 }},
	} {
		t.Run(name, func(t *testing.T) {
			got, context, err := config(t, c.args...)
			if err != nil {
				t.Fatal(err)
			}
			if got.Host != c.host || context != c.context || c.check != nil && !c.check(got) {
				t.Errorf("%s, context %s: %+v", got.Host, context, got)
			}
		})
	}
}

// kubectl merges the files of $KUBECONFIG, and passes over those that aren't
// there.
func TestSeveralKubeconfigs(t *testing.T) {
	alone(t)
	contexts, rest, ok := strings.Cut(kubeconfig, "users:")
	if !ok {
		t.Fatal("no users")
	}
	t.Setenv("KUBECONFIG", strings.Join([]string{file(t, contexts), "/none/such", file(t, "apiVersion: v1\nkind: Config\nusers:"+rest)}, ":"))
	got, context, err := config(t)
	if err != nil || got.Host != "https://east.example.com:6443" || context != "ann@east" || got.BearerToken != "anns" {
		t.Errorf("%+v, %s, %v", got, context, err)
	}
}

func TestNoFlagIsGivenAway(t *testing.T) {
	var f cluster.Flags
	fs := pflag.NewFlagSet("verify", pflag.ContinueOnError)
	f.Register(fs)
	for _, gone := range []string{"namespace", "username", "password"} {
		if fs.Lookup(gone) != nil {
			t.Errorf("--%s is there", gone)
		}
	}
}

func TestUnusableKubeconfig(t *testing.T) {
	alone(t)
	clusters, _, _ := strings.Cut(kubeconfig, "users:")
	many := strings.Replace(kubeconfig, "current-context:", strings.Repeat("- {name: a?, context: {cluster: east, user: ann}}\n", 12)+"current-context:", 1)
	for i := range 12 {
		many = strings.Replace(many, "?", string(rune('a'+i)), 1)
	}
	for name, c := range map[string]struct {
		args []string
		want []string
	}{
		"no file":            {[]string{"--kubeconfig=/none/such"}, []string{"/none/such: there is no such kubeconfig", "fix: --kubeconfig"}},
		"none at all":        {nil, []string{"none of the kubeconfigs of $KUBECONFIG is there", "fix: --kubeconfig"}},
		"not YAML":           {[]string{"--kubeconfig", file(t, "{clusters: [")}, []string{"can't be read", "fix: "}},
		"not a kubeconfig":   {[]string{"--kubeconfig", file(t, "apiVersion: v1\nkind: Pod\n")}, []string{"can't be read", "Pod", "fix: "}},
		"empty":              {[]string{"--kubeconfig", file(t, "")}, []string{"no cluster", "fix: --kubeconfig"}},
		"no current context": {[]string{"--kubeconfig", file(t, strings.Replace(kubeconfig, "current-context: ann@east", "", 1))}, []string{"no context is chosen, of ann@east, bob@west", "fix: --context ann@east"}},
		"no context":         {[]string{"--kubeconfig", file(t, clusters)}, []string{"clusters and no context", "fix: kubectl config set-context"}},
		"wrong context":      {[]string{"--kubeconfig", file(t, kubeconfig), "--context=ann"}, []string{`no context "ann", only ann@east, bob@west`, "fix: --context ann@east"}},
		"a fleet's":          {[]string{"--kubeconfig", file(t, many), "--context=bob@east"}, []string{`no context "bob@east", only aa, ab, ac, ad, ae, af, ag, ah, ai, aj and 4 more`, "fix: --context bob@west"}},
		"cluster is gone":    {[]string{"--kubeconfig", file(t, strings.Replace(kubeconfig, "{name: east,", "{name: north,", 1))}, []string{`context "ann@east" is of the cluster "east", which isn't there`, "fix: another --context"}},
		"wrong cluster":      {[]string{"--kubeconfig", file(t, kubeconfig), "--cluster=south"}, []string{"can't be used", `"south"`, "fix: kubectl config view"}},
		"wrong user":         {[]string{"--kubeconfig", file(t, kubeconfig), "--user=eve"}, []string{"can't be used", `"eve"`, "fix: kubectl config view"}},
		"no certificate": {
			[]string{"--kubeconfig", file(t, kubeconfig), "--certificate-authority=/none/ca.crt"},
			[]string{"can't be used", "/none/ca.crt", "fix: kubectl config view"},
		},
		"wrong extra":   {[]string{"--kubeconfig", file(t, kubeconfig), "--as-user-extra=scopes"}, []string{"scopes isn't key=value", "fix: --as-user-extra"}},
		"wrong timeout": {[]string{"--kubeconfig", file(t, kubeconfig), "--request-timeout=soon"}, []string{"soon", "fix: "}},
	} {
		t.Run(name, func(t *testing.T) {
			_, _, err := config(t, c.args...)
			if _, ok := errors.AsType[*fault.Error](err); !ok {
				t.Fatalf("no fault: %v", err)
			}
			for _, want := range c.want {
				if !strings.Contains(err.Error(), want) {
					t.Errorf("no %q in:\n%v", want, err)
				}
			}
		})
	}
}
