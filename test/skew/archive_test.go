package skew

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"os"
	"regexp"
	"strings"
	"testing"
)

const gatheredExample = "testdata/14-update-under-way"

// archive packs a must-gather as people send it.
func archive(t *testing.T, folder string) []byte {
	t.Helper()
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	w := tar.NewWriter(z)
	if err := w.AddFS(os.DirFS(folder)); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// An archive says what its folder says; one that was cut says that it was, and
// never that all is well.
func TestMustGatherArchive(t *testing.T) {
	whole := archive(t, gatheredExample+"/must-gather")
	dir := t.TempDir()
	folder := run(t, "skew", "--details", "--must-gather", gatheredExample+"/must-gather")
	packed := run(t, "skew", "--details", "--must-gather", write(t, dir, "mg.tar.gz", string(whole)))
	if folder.exit != packed.exit || findings(folder.stdout) != findings(packed.stdout) {
		t.Errorf("exit codes %d and %d\n%s", folder.exit, packed.exit, firstDifference(findings(folder.stdout), findings(packed.stdout)))
	}
	for _, part := range []int{9, 5, 3, 2} {
		cut := write(t, dir, "cut.tar.gz", string(whole[:len(whole)*part/10]))
		out := run(t, "skew", "--details", "--must-gather", cut)
		switch out.exit {
		case 1:
			if !oneError.MatchString(out.stderr) || !strings.Contains(out.stderr, cut) {
				t.Errorf("%d/10: %s", part, out.stderr)
			}
		case 4:
			if !strings.Contains(out.stdout, "ends early") || !strings.Contains(out.stdout, cut) {
				t.Errorf("%d/10 doesn't say that the archive is cut:\n%s", part, out.stdout)
			}
		default:
			t.Errorf("%d/10: exit code %d\n%s", part, out.exit, out.stdout)
		}
	}
	out := run(t, "skew", "--must-gather", write(t, dir, "not.tar.gz", "<html>403 Forbidden</html>"))
	if out.exit != 1 || !oneError.MatchString(out.stderr) {
		t.Errorf("a page of HTML: exit code %d\n%s%s", out.exit, out.stdout, out.stderr)
	}
}

// planned is the command that names what was read.
var planned = regexp.MustCompile(`(?m)^    verify skew plan .*#`)

// findings is what an answer says before it tells what was read.
func findings(text string) string {
	said, _, _ := strings.Cut(text, "\nWhat was read")
	return planned.ReplaceAllString(said, "")
}
