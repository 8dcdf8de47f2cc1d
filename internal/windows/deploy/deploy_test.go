package deploy

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/winbake/winbake/internal/base/fault"
	"github.com/winbake/winbake/internal/base/finding"
	"github.com/winbake/winbake/internal/windows/agent"
	"github.com/winbake/winbake/internal/windows/guest"
	"github.com/winbake/winbake/internal/windows/node"
)

func nodeOf(g *fakeGuest) *Node { return &Node{Guest: g, Exe: []byte("MZ")} }

func TestFactsAreOneRoundTripTheSecondTime(t *testing.T) {
	g, im := newGuest(), testImage(t)
	g.before = "Windows PowerShell\r\n{not JSON\r\n{}\r\n"
	if _, err := nodeOf(g).Facts(t.Context(), im.Expectation, true); err != nil {
		t.Fatal(err)
	}
	if len(g.puts) != 2 || len(g.commands) != 2 { // absent, ask
		t.Errorf("puts %q, commands %q", g.puts, g.commands)
	}
	g.puts, g.commands = nil, nil
	if _, err := nodeOf(g).Facts(t.Context(), im.Expectation, true); err != nil || len(g.puts) > 0 || len(g.commands) != 1 {
		t.Errorf("the second time: puts %q, commands %q, %v", g.puts, g.commands, err)
	}
	im.Expectation.Release = "4.21" // another image, the same verify.exe
	if _, err := nodeOf(g).Facts(t.Context(), im.Expectation, true); err != nil || len(g.puts) != 1 || !strings.HasPrefix(g.puts[0], ".winbake/expect-") {
		t.Errorf("puts %q, %v", g.puts, err)
	}
}

// What lies on the node may be changed between two runs: an expectation that
// asks less would find a node right that nobody looked at.
func TestTamperedExpectationIsBroughtAgain(t *testing.T) {
	for name, text := range map[string]string{"empty": `{"files":[],"services":[]}`, "damaged": "{"} {
		g, im := newGuest(), testImage(t)
		first, err := nodeOf(g).Facts(t.Context(), im.Expectation, true)
		if err != nil {
			t.Fatal(err)
		}
		for p := range g.files {
			if strings.Contains(p, "expect-") {
				g.files[p] = []byte(text)
			}
		}
		g.puts = nil
		second, err := nodeOf(g).Facts(t.Context(), im.Expectation, true)
		if err != nil || len(second.Files) != len(first.Files) || len(second.Services) != 1 || len(g.puts) != 1 {
			t.Errorf("%s: %+v, %v, puts %q", name, second, err, g.puts)
		}
	}
}

// Another run may have brought verify.exe meanwhile and run it now: then it
// can't be written, and needn't be.
func TestVerifyThatAnotherRunBrought(t *testing.T) {
	for _, there := range []bool{true, false} {
		g, im := newGuest(), testImage(t)
		n := nodeOf(g)
		g.inUse = func(name string) bool {
			if strings.HasSuffix(name, ".exe") && there {
				g.files[name] = n.Exe
			}
			return strings.HasSuffix(name, ".exe")
		}
		_, err := n.Facts(t.Context(), im.Expectation, true)
		if (err == nil) != there || err != nil && !errors.Is(err, guest.ErrInUse) {
			t.Errorf("it is there: %t; %v", there, err)
		}
	}
}

// What is named by its sum is the same, no matter who brought it: another run that
// has it open meanwhile keeps nothing up.
func TestFilesThatAnotherRunBrought(t *testing.T) {
	for _, part := range []string{"/stage/", "/expect-"} {
		g, im := newGuest(), testImage(t)
		g.inUse = func(name string) bool {
			if !strings.Contains(name, part) {
				return false
			}
			if part == "/expect-" {
				g.files[name], _ = im.Expectation.Encode()
			}
			return true
		}
		if out, err := nodeOf(g).Install(t.Context(), agent.Install, im, Options{}); err != nil || !out.Result.Changed {
			t.Errorf("%s: %+v, %v", part, out, err)
		}
	}
	g, im := newGuest(), testImage(t)
	g.inUse = func(name string) bool { return strings.Contains(name, "/expect-") } // and it isn't there
	if _, err := nodeOf(g).Install(t.Context(), agent.Install, im, Options{}); !errors.Is(err, guest.ErrInUse) {
		t.Errorf("an expectation that can't be brought: %v", err)
	}
}

// A program that is new to a node may not start at once, in whatever step.
func TestVerifyThatStartsLater(t *testing.T) {
	g, im := newGuest(), testImage(t)
	g.slowStarts = 1
	if _, err := nodeOf(g).Facts(t.Context(), im.Expectation, true); err != nil {
		t.Error(err)
	}
	g.inUse = func(name string) bool {
		if strings.Contains(name, "request-") {
			g.slowStarts = 1
		}
		return false
	}
	if out, err := nodeOf(g).Install(t.Context(), agent.Install, im, Options{}); err != nil || !out.Result.Changed || g.slowStarts > 0 {
		t.Errorf("%+v, %v", out, err)
	}
}

// The wrong machine gets nothing.
func TestMachineThatIsNotWindows(t *testing.T) {
	g, im := newGuest(), testImage(t)
	g.posix = true
	if _, err := nodeOf(g).Install(t.Context(), agent.Install, im, Options{}); err == nil || !strings.Contains(err.Error(), "isn't Windows") || len(g.puts) > 0 {
		t.Errorf("%v, puts %q", err, g.puts)
	}
}

func TestUnusableAnswers(t *testing.T) {
	for name, c := range map[string]struct {
		spoil func(*fakeGuest)
		want  string
	}{
		"ends without a word":  {func(g *fakeGuest) { g.mute = true }, "verify.exe doesn't run there"},
		"taken away meanwhile": {func(g *fakeGuest) { g.vanish = true }, "was taken away from the node meanwhile"},
		"another protocol":     {func(g *fakeGuest) { g.facts.Protocol = node.Protocol + 1 }, "protocol"},
		"cut":                  {func(g *fakeGuest) { g.cut = errors.New("the line is dead") }, "the line is dead"},
		"no administrator":     {func(g *fakeGuest) { g.facts.Administrator = node.Say(false) }, "no administrator"},
		"managed":              {func(g *fakeGuest) { g.facts.Managed = node.Say(true) }, "WMCO manages this node"},
		"no result":            {func(g *fakeGuest) { g.apply = func(*agent.Request) agent.Line { return agent.Line{} } }, "ended in the middle of its work"},
		"facts for a result": {func(g *fakeGuest) {
			g.apply = func(*agent.Request) agent.Line { return agent.Line{Facts: &g.facts} }
		}, "something else than a result"},
		"a fault of the node": {func(g *fakeGuest) {
			g.apply = func(*agent.Request) agent.Line {
				return agent.Line{Fault: &fault.Error{What: "the file is in use", Code: 3}}
			}
		}, "the file is in use"},
	} {
		t.Run(name, func(t *testing.T) {
			g, im := newGuest(), testImage(t)
			c.spoil(g)
			_, err := nodeOf(g).Install(t.Context(), agent.Install, im, Options{})
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got %v, want %q", err, c.want)
			}
			refused := name == "managed" || name == "no administrator"
			if refused && slices.ContainsFunc(g.puts, func(p string) bool { return strings.Contains(p, "/stage/") }) {
				t.Errorf("files went up before the refusal: %q", g.puts)
			}
			if f, ok := errors.AsType[*fault.Error](err); name == "a fault of the node" && (!ok || f.Code != 3) {
				t.Errorf("the fault lost its code: %+v", f)
			}
		})
	}
}

func TestInstallSendsWhatIsMissing(t *testing.T) {
	whole := func(f node.File) node.FileFacts {
		return node.FileFacts{Path: strings.ToUpper(f.Path), Exists: node.Say(true), SHA256: node.Say(f.SHA256), Size: f.Size}
	}
	for name, c := range map[string]struct {
		prepare func(*fakeGuest, *Image)
		sent    int
	}{
		"nothing there": {func(*fakeGuest, *Image) {}, 2},
		"one is there":  {func(g *fakeGuest, im *Image) { g.facts.Files = []node.FileFacts{whole(im.Expectation.Files[0])} }, 1},
		"one went up already": {func(g *fakeGuest, im *Image) {
			g.facts.Staged = []string{im.Expectation.Files[1].SHA256 + agent.StagedSuffix}
		}, 1},
		"one differs": {func(g *fakeGuest, im *Image) {
			g.facts.Files = []node.FileFacts{whole(im.Expectation.Files[0]), {Path: im.Expectation.Files[1].Path, Exists: node.Say(true), SHA256: node.Say(sumOf("x"))}}
		}, 1},
		"one component alone": {func(_ *fakeGuest, im *Image) { _ = im.Only([]string{"b"}) }, 1},
		"managed, and told":   {func(g *fakeGuest, _ *Image) { g.facts.Managed = node.Say(true) }, 2},
	} {
		t.Run(name, func(t *testing.T) {
			g, im := newGuest(), testImage(t)
			c.prepare(g, im)
			var asked *agent.Request
			g.apply = func(req *agent.Request) agent.Line {
				asked = req
				return agent.Line{Result: &agent.Result{Changed: true, Installed: c.sent}}
			}
			out, err := nodeOf(g).Install(t.Context(), agent.Upgrade, im, Options{Managed: true})
			if err != nil || out.Uploaded != c.sent || out.Result.Installed != c.sent {
				t.Fatalf("%+v, %v", out, err)
			}
			staged := 0
			for p := range g.files {
				if strings.HasPrefix(p, ".winbake/stage/") {
					staged++
				}
			}
			if staged != c.sent || asked.Verb != agent.Upgrade || asked.Reference != im.Reference || !asked.Managed || len(asked.Expectation.Files) != len(im.Expectation.Files) {
				t.Errorf("%d staged, asked %+v", staged, asked)
			}
		})
	}
}

// A node that is right costs one question, and what it doesn't tell doesn't
// make it wrong.
func TestInstallOnARightNode(t *testing.T) {
	g, im := newGuest(), testImage(t)
	im.Expectation.Services = nil
	for _, f := range im.Expectation.Files {
		g.facts.Files = append(g.facts.Files, node.FileFacts{Path: f.Path, Exists: node.Say(true), SHA256: node.Say(f.SHA256), Size: f.Size})
	}
	g.facts.Installed = im.Reference
	g.apply = func(*agent.Request) agent.Line { t.Error("something was changed"); return agent.Line{} }
	for range 2 {
		g.commands = nil
		out, err := nodeOf(g).Install(t.Context(), agent.Install, im, Options{})
		if err != nil || out.Result.Changed || out.Uploaded > 0 {
			t.Errorf("%+v, %v", out, err)
		}
	}
	if len(g.commands) != 1 {
		t.Errorf("%d questions: %q", len(g.commands), g.commands)
	}
	g.facts.Interrupted = "upgrade"
	g.apply = func(*agent.Request) agent.Line { return agent.Line{Result: &agent.Result{Recovered: "put back"}} }
	if out, err := nodeOf(g).Install(t.Context(), agent.Install, im, Options{}); err != nil || out.Result.Recovered == "" {
		t.Errorf("a change that was cut short is left: %+v, %v", out, err)
	}
}

// Two runs at once must not carry out each other's request.
func TestRequestsHaveNamesOfTheirOwn(t *testing.T) {
	g, im := newGuest(), testImage(t)
	for range 2 {
		if _, err := nodeOf(g).Install(t.Context(), agent.Install, im, Options{}); err != nil {
			t.Fatal(err)
		}
	}
	names := slices.DeleteFunc(slices.Clone(g.puts), func(p string) bool { return !strings.Contains(p, "request") })
	if len(names) != 2 || names[0] == names[1] {
		t.Errorf("%q", names)
	}
}

func TestImageThatContradictsItself(t *testing.T) {
	for name, c := range map[string]struct {
		spoil func(*node.File)
		want  string
	}{
		"another sum":  {func(f *node.File) { f.SHA256 = sumOf("x") }, "its node.json says"},
		"another size": {func(f *node.File) { f.Size++ }, "its node.json says"},
		"no such file": {func(f *node.File) { f.Payload = "c.exe" }, "the image has no /payload/c.exe"},
	} {
		g, im := newGuest(), testImage(t)
		c.spoil(&im.Expectation.Files[1])
		_, err := nodeOf(g).Install(t.Context(), agent.Install, im, Options{})
		if err == nil || !strings.Contains(err.Error(), c.want) || slices.ContainsFunc(g.commands, func(c string) bool { return strings.Contains(c, "apply") }) {
			t.Errorf("%s: %v", name, err)
		}
		if bad := ".winbake/stage/" + im.Expectation.Files[1].SHA256 + agent.StagedSuffix; g.files[bad] != nil {
			t.Errorf("%s: it went up all the same", name)
		}
	}
}

func TestOnlyUnknown(t *testing.T) {
	im := testImage(t)
	if err := im.Only([]string{"c"}); err == nil {
		t.Error("a component that isn't there is taken")
	}
	if err := im.Only([]string{"b"}); err != nil || len(im.Expectation.Files) != 1 || len(im.Expectation.Services) != 0 {
		t.Errorf("%+v, %v", im.Expectation, err)
	}
}

func TestRemoveLeavesNothing(t *testing.T) {
	g := newGuest()
	g.apply = func(req *agent.Request) agent.Line {
		if req.Verb != agent.Remove || req.Expectation != nil {
			t.Errorf("%+v", req)
		}
		return agent.Line{Result: &agent.Result{Changed: true, Removed: 1}}
	}
	if out, err := nodeOf(g).Remove(t.Context(), Options{}); err != nil || out.Result.Removed != 1 || len(g.files) > 0 {
		t.Errorf("%+v, %v, left %v", out, err, g.files)
	}
}

// A check leaves nothing, whatever happens to it.
func TestCheckLeavesNothing(t *testing.T) {
	im := testImage(t)
	for name, spoil := range map[string]func(*fakeGuest, context.CancelFunc){
		"well":        func(*fakeGuest, context.CancelFunc) {},
		"protocol":    func(g *fakeGuest, _ context.CancelFunc) { g.facts.Protocol++ },
		"interrupted": func(_ *fakeGuest, cancel context.CancelFunc) { cancel() },
	} {
		g := newGuest()
		g.files["mine"] = []byte("x")
		ctx, cancel := context.WithCancel(t.Context())
		say := func(string) { spoil(g, cancel) }
		facts, err := Check(ctx, g, []byte("MZ"), im.Expectation, say)
		if (err == nil) != (name == "well") || (facts != nil) != (name == "well") {
			t.Errorf("%s: %+v, %v", name, facts, err)
		}
		if len(g.files) != 1 {
			t.Errorf("%s left %v", name, g.files)
		}
		cancel()
	}
}

func TestFaultsKeepTheirCode(t *testing.T) {
	var sent bytes.Buffer
	agent.WriteLine(&sent, agent.Line{Fault: agent.FaultOf(fmt.Errorf("y: %w", &fault.Error{What: "x", Fix: "z", Code: finding.ExitBlock, Err: errors.New("cause")}))})
	if got, want := sent.String(), `{"fault":{"what":"x","fix":"z","code":3}}`+"\n"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
	lines := &lineWriter{}
	if _, err := lines.Write(sent.Bytes()); err != nil || lines.last.Fault.Code != finding.ExitBlock {
		t.Errorf("%+v, %v", lines.last, err)
	}
}

// TestFactsWhileAnotherRunTidies: what another run's change removes between
// upload and question is brought again, once.
func TestFactsWhileAnotherRunTidies(t *testing.T) {
	im := testImage(t)
	for tidied, want := range map[int]bool{1: true, 2: false} {
		g := newGuest()
		g.tidied = tidied
		if _, err := nodeOf(g).Facts(t.Context(), im.Expectation, true); (err == nil) != want {
			t.Errorf("removed %d times: %v", tidied, err)
		}
	}
}
