package hosts

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/pflag"

	"github.com/winbake/winbake/internal/base/fault"
	"github.com/winbake/winbake/internal/base/finding"
	"github.com/winbake/winbake/internal/windows/guest"
)

func parse(t *testing.T, args ...string) *Flags {
	t.Helper()
	h := new(Flags)
	f := pflag.NewFlagSet("test", pflag.ContinueOnError)
	h.Register(f, "0")
	if err := f.Parse(args); err != nil {
		t.Fatal(err)
	}
	return h
}

func TestTargets(t *testing.T) {
	list := filepath.Join(t.TempDir(), "nodes")
	const text = "# ours\n10.0.0.7\n\n  capi@node2:2222 # Azure\n"
	if err := os.WriteFile(list, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		args []string
		want []string
		err  string
	}{
		"one":            {[]string{"--ssh", "a@b"}, []string{"a@b"}, ""},
		"several":        {[]string{"--ssh", "a@b", "--ssh", "c"}, []string{"a@b", "c"}, ""},
		"a file":         {[]string{"--hosts", list, "--user", "Administrator"}, []string{"Administrator@10.0.0.7", "capi@node2:2222"}, ""},
		"stdin":          {[]string{"--hosts", "-"}, []string{"10.0.0.7", "capi@node2:2222"}, ""},
		"none":           {nil, nil, "which node?"},
		"twice":          {[]string{"--ssh", "capi@node2:2222", "--hosts", list}, nil, list + ":4: capi@node2:2222 is named twice"},
		"no file":        {[]string{"--hosts", list + "x"}, nil, "can't be read"},
		"a wrong share":  {[]string{"--ssh", "a@b", "--max-failures", "101%"}, nil, "--max-failures"},
		"no time":        {[]string{"--ssh", "a@b", "--node-timeout", "0"}, nil, "--node-timeout"},
		"none at a time": {[]string{"--ssh", "a@b", "--parallel", "0"}, nil, "--parallel"},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := parse(t, c.args...).Targets(strings.NewReader(text))
			if c.err != "" {
				if err == nil || !strings.Contains(err.Error(), c.err) || !strings.Contains(err.Error(), "fix: ") {
					t.Errorf("%v", err)
				}
				return
			}
			var names []string
			for _, target := range got {
				names = append(names, target.String())
			}
			if err != nil || !slices.Equal(names, c.want) {
				t.Errorf("%v, %v", names, err)
			}
		})
	}
	if _, err := parse(t, "--hosts", "-").Targets(strings.NewReader("ok\na b@-x\n")); err == nil || !strings.HasPrefix(err.Error(), "stdin:2: ") {
		t.Errorf("%v", err)
	}
}

// outcomes does work on ten machines, one after the other; those with a letter
// of bad in their name fail.
func outcomes(t *testing.T, bad string, args ...string) (done string, all []Outcome[int], err error) {
	t.Helper()
	h := parse(t, append(args, "--parallel", "1", "--user", "u", "--hosts", "-")...)
	targets, err := h.Targets(strings.NewReader(strings.Join(strings.Split("abcdefghij", ""), "\n")))
	if err != nil {
		t.Fatal(err)
	}
	all = Each(t.Context(), h, targets, func(_ context.Context, target guest.Target) (int, error) {
		done += target.Host
		if strings.Contains(bad, target.Host) {
			return 0, &fault.Error{What: "bad", Code: finding.ExitBlock}
		}
		return 1, nil
	}, nil)
	return done, all, Failure(all)
}

func TestEach(t *testing.T) {
	for _, c := range []struct{ bad, mayFail, done, want string }{
		{"", "0", "abcdefghij", ""},
		{"bd", "0", "ab", "1 of 10 nodes failed, and 8 weren't begun"},
		{"bd", "1", "abcd", "2 of 10 nodes failed, and 6 weren't begun"},
		{"bd", "19%", "abcd", "2 of 10 nodes failed, and 6 weren't begun"},
		{"bd", "20%", "abcdefghij", "2 of 10 nodes failed"},
		{"abcdefghij", "100%", "abcdefghij", "10 of 10 nodes failed"},
	} {
		done, all, err := outcomes(t, c.bad, "--max-failures", c.mayFail)
		what := ""
		if f, ok := errors.AsType[*fault.Error](err); ok {
			what = f.What
			if f.Code != finding.ExitBlock {
				t.Errorf("%+v: exit code %d", c, f.Code)
			}
		}
		if done != c.done || what != c.want || all[0].Target.Host != "a" {
			t.Errorf("%+v: %s, %s", c, done, what)
		}
	}
}

// TestEachEnds: Ctrl-C begins no more, and what was done is there.
func TestEachEnds(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	targets := []guest.Target{{Host: "a"}, {Host: "b"}}
	all := Each(ctx, parse(t, "--parallel", "1"), targets, func(context.Context, guest.Target) (int, error) {
		cancel()
		return 7, nil
	}, nil)
	if all[0].Value != 7 || all[0].Err != nil || !errors.Is(all[1].Err, context.Canceled) || Failure(all) == nil {
		t.Errorf("%+v", all)
	}
}

// TestEachWithOneThatHangs: a machine whose work never ends is one failure, with its
// name and what to do. The others are worked on meanwhile, and after it.
func TestEachWithOneThatHangs(t *testing.T) {
	h := parse(t, "--parallel", "2", "--max-failures", "1", "--node-timeout", "200ms", "--hosts", "-")
	targets, err := h.Targets(strings.NewReader("u@a\nu@hangs\nu@b\nu@c"))
	if err != nil {
		t.Fatal(err)
	}
	all := Each(t.Context(), h, targets, func(ctx context.Context, target guest.Target) (string, error) {
		if target.Host != "hangs" {
			return target.Host, nil
		}
		<-ctx.Done()
		return "", errors.New("the connection broke off")
	}, nil)
	for i, want := range []string{"a", "", "b", "c"} {
		if all[i].Value != want || (all[i].Err != nil) != (want == "") {
			t.Errorf("%+v", all[i])
		}
	}
	err = Failure(all)
	if f, ok := errors.AsType[*fault.Error](err); !ok || f.What != "1 of 4 nodes failed" {
		t.Errorf("%v", err)
	}
	if said := fault.OneLine(all[1].Err.Error()); !strings.HasPrefix(said, "u@hangs: after 200ms the work") || !strings.Contains(said, "--node-timeout") {
		t.Errorf("%v", said)
	}
}

func FuzzTargets(f *testing.F) {
	f.Add("Administrator@node:2222\n# x\n10.0.0.7\n")
	f.Fuzz(func(t *testing.T, s string) {
		h := &Flags{file: "-", parallel: 1, limit: 1, mayFail: "0"}
		all, err := h.Targets(strings.NewReader(s))
		if (err == nil) == (len(all) == 0) {
			t.Errorf("%q: %v, %v", s, all, err)
		}
	})
}
