package pins

import (
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/winbake/winbake/internal/base/fault"
)

var update = flag.Bool("update", false, "rewrite golden files")

// golden compares got with a file, or writes it.
func golden(t *testing.T, path, got string) {
	t.Helper()
	if *update {
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if got != string(want) {
		t.Errorf("%s differs:\n got: %s\nwant: %s", path, got, want)
	}
}

func TestGoldenMistakes(t *testing.T) {
	files, err := filepath.Glob("testdata/bad/*.yaml")
	if err != nil || len(files) != 82 {
		t.Fatalf("%d files, %v", len(files), err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".yaml"), func(t *testing.T) {
			_, err := Load(file)
			if err == nil {
				t.Fatal("no error")
			}
			if fault.ExitCode(err) != 1 {
				t.Errorf("exit code %d, want 1", fault.ExitCode(err))
			}
			if !strings.Contains(err.Error(), "fix: ") {
				t.Error("the error doesn't say what fixes it")
			}
			golden(t, strings.TrimSuffix(file, ".yaml")+".golden", err.Error()+"\n")
		})
	}
}

func TestLoadRefusesWhatIsNoFile(t *testing.T) {
	for _, path := range []string{"testdata/none.yaml", "testdata"} {
		if _, err := Load(path); err == nil || !strings.Contains(err.Error(), "-f PATH") {
			t.Errorf("Load(%s) = %v", path, err)
		}
	}
}

func TestDirectivesAreNoDocument(t *testing.T) {
	src, err := os.ReadFile("../../../versions.yaml")
	if err != nil {
		t.Fatal(err)
	}
	for _, head := range []string{"%YAML 1.2\n---\n", "# of the team\n%YAML 1.2\n---\n"} {
		f, err := Parse("versions.yaml", append([]byte(head), src...))
		if err != nil || len(f.Components) == 0 {
			t.Errorf("%q: %+v, %v", head, f, err)
		}
	}
}

// The repository's own files are the best positive examples.
func TestRepositoryFilesLoad(t *testing.T) {
	examples, err := filepath.Glob("../../../examples/*/versions.yaml")
	if err != nil || len(examples) < 2 {
		t.Fatalf("%v, %v", examples, err)
	}
	for _, path := range append(examples, "../../../versions.yaml") {
		f, err := Load(path)
		if err != nil {
			t.Errorf("%v", err)
			continue
		}
		for i := range f.Components {
			if c := &f.Components[i]; c.Kind() == KindModule && !strings.HasPrefix(c.BuildPackage(), c.Module) {
				t.Errorf("%s: %s is built as %s", path, c.Name, c.BuildPackage())
			}
		}
	}
}

func FuzzParse(f *testing.F) {
	files, err := filepath.Glob("testdata/bad/*.yaml")
	if err != nil {
		f.Fatal(err)
	}
	for _, file := range append(files, "../../../versions.yaml") {
		data, err := os.ReadFile(file)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(data)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		file, err := Parse("versions.yaml", data)
		if (file == nil) == (err == nil) {
			t.Errorf("file %v, error %v", file, err)
		}
	})
}
