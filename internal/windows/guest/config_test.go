package guest

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

func writeConfig(t *testing.T, text string) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "ssh_config")
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}

func TestRoute(t *testing.T) {
	included := writeConfig(t, "Host included\n  User Administrator\n  Port 2200\n")
	config := writeConfig(t, "Include "+included+`
Host win-*
  HostName %h.example.com
  User Administrator
  IdentityFile /keys/%n_%r
  HostKeyAlias windows
  IdentitiesOnly yes
  UserKnownHostsFile /known/1 /known/2
Match host jumped user capi
  ProxyJump core@bastion:2222
Host two
  ProxyJump core@one,[2001:db8::1]:2200
Host command
  ProxyCommand nc %h %p --user %r
Host old
  ProxyCommand ssh -W %h:%p core@command
Host other
  ProxyCommand ssh -F none -W %h:%p other
Host nc
  ProxyCommand ssh nc nc %h %p
Host none
  ProxyJump none
  ProxyCommand none
`)
	for name, want := range map[string]struct {
		target Target
		words  []string // of the command
	}{
		"included":              {Target{"Administrator", "included", 2200}, nil},
		"joe@included:22":       {Target{"joe", "included", 22}, nil},
		"win-1":                 {Target{"Administrator", "win-1.example.com", 22}, nil},
		"capi@jumped":           {Target{"capi", "jumped", 22}, []string{"ssh", "-o", "BatchMode=yes", "-F", config, "-l", "core", "-p", "2222", "-W", "jumped:22", "--", "bastion"}},
		"joe@jumped":            {Target{"joe", "jumped", 22}, nil},
		"joe@two":               {Target{"joe", "two", 22}, []string{"ssh", "-o", "BatchMode=yes", "-F", config, "-p", "2200", "-J", "core@one", "-W", "two:22", "--", "2001:db8::1"}},
		"joe@command:7":         {Target{"joe", "command", 7}, []string{"sh", "-c", "exec nc command 7 --user joe"}},
		"joe@old":               {Target{"joe", "old", 22}, []string{"sh", "-c", "exec ssh -W old:22 core@command"}},
		"joe@other":             {Target{"joe", "other", 22}, []string{"sh", "-c", "exec ssh -F none -W other:22 other"}},
		"joe@nc":                {Target{"joe", "nc", 22}, []string{"sh", "-c", "exec ssh nc nc nc 22"}},
		"joe@none":              {Target{"joe", "none", 22}, nil},
		`CORP\joe@[fe80::1%lo]`: {Target{`CORP\joe`, "fe80::1%lo", 22}, nil},
	} {
		asked, err := ParseTarget(name)
		if err != nil {
			t.Fatal(err)
		}
		got, err := newRoute(t.Context(), asked, config)
		if err != nil || got.target != want.target || !slices.Equal(got.command, want.words) {
			t.Errorf("%s: %+v, %v", name, got, err)
		}
	}
	got, err := newRoute(t.Context(), Target{Host: "win-1"}, config)
	if err != nil || got.alias != "windows" || !got.onlyThese || !slices.Equal(got.identities, []string{"/keys/win-1_Administrator"}) ||
		!slices.Equal(got.knownHosts[:2], []string{"/known/1", "/known/2"}) {
		t.Errorf("%+v, %v", got, err)
	}
}

func TestBadConfig(t *testing.T) {
	for name, c := range map[string]struct{ text, target, want string }{
		"a word that ssh doesn't know": {"Host *\n  Foo bar\n", "a@b", "line 2: Bad configuration option: foo"},
		"a circle":                     {"Host a\n  ProxyJump b\nHost b\n  ProxyJump c,x\nHost c\n  ProxyJump A\n", "u@a", "in a circle: a through b through c through A"},
		"a circle of commands":         {"Host a b\n  ProxyCommand ssh -F CONFIG -W %h:%p c\nHost c\n  ProxyCommand ssh -q -F CONFIG -W %h:%p core@b\n", "u@a", "in a circle: a through c through b through c"},
		"a command through itself":     {"Host *\n  ProxyCommand ssh -F CONFIG -W %h:%p bastion\n", "u@a", "in a circle: a through bastion through bastion"},
		"itself":                       {"Host *\n  ProxyJump bastion\n", "u@bastion", "jumphost loop via bastion"},
		"a jump that is none":          {"Host a\n  ProxyJump b:port\n", "u@a", "b:port"},
		"no user":                      {"Host a\n  Port 22\n", "a", "no user is named"},
	} {
		t.Run(name, func(t *testing.T) {
			target, err := ParseTarget(c.target)
			if err != nil {
				t.Fatal(err)
			}
			config := writeConfig(t, "")
			if err := os.WriteFile(config, []byte(strings.ReplaceAll(c.text, "CONFIG", config)), 0o600); err != nil {
				t.Fatal(err)
			}
			_, err = newRoute(t.Context(), target, config)
			if err == nil || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "\r") {
				t.Errorf("%q", err)
			}
		})
	}
	if _, err := newRoute(t.Context(), Target{"a", "b", 0}, filepath.Join(t.TempDir(), "none")); err == nil {
		t.Error("a configuration that isn't there is no error")
	}
}

// TestWithoutSSH: what runs in a container may have no ssh program.
func TestWithoutSSH(t *testing.T) {
	t.Setenv("PATH", t.TempDir())
	if r, err := newRoute(t.Context(), Target{"a", "b", 0}, ""); err != nil || r.target != (Target{"a", "b", 0}) {
		t.Errorf("%+v, %v", r, err)
	}
	if _, err := newRoute(t.Context(), Target{"a", "b", 0}, "config"); err == nil || !strings.Contains(err.Error(), "needs the program ssh") {
		t.Errorf("%v", err)
	}
}
