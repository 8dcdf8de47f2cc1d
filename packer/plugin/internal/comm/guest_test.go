package comm

import (
	"bytes"
	"context"
	"errors"
	"io"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/winbake/winbake/internal/base/fault"
	"github.com/winbake/winbake/internal/windows/deploy"
)

func newFolder(t *testing.T, server string) (*Guest, *folder) {
	t.Helper()
	f := &folder{root: t.TempDir()}
	return New(f, server), f
}

// content is bytes in no order: a piece in the wrong place shows.
func content(size int) []byte {
	data := make([]byte, size)
	_, _ = rand.NewChaCha8([32]byte{}).Read(data) // never fails
	return data
}

func TestPut(t *testing.T) {
	for _, size := range []int{0, 1, pieceSize - 1, pieceSize, 2*pieceSize + 1, 7*pieceSize - 3, 30 * pieceSize} {
		g, f := newFolder(t, "")
		data := content(size)
		if err := g.Put(t.Context(), ".winbake/stage/a.tar.gz", bytes.NewReader(data)); err != nil {
			t.Fatal(err)
		}
		got, err := os.ReadFile(f.host(".winbake/stage/a.tar.gz"))
		if err != nil || !bytes.Equal(got, data) {
			t.Errorf("%d bytes came as %d, %v", size, len(got), err)
		}
		left, err := os.ReadDir(f.host(".winbake/stage"))
		if err != nil || len(left) != 1 {
			t.Errorf("%d bytes left %v, %v", size, left, err)
		}
		if f.most > sessions {
			t.Errorf("there were %d sessions at once", f.most)
		}
		for _, c := range f.commands {
			if len(c) > 8191 || !strings.HasPrefix(c, "cmd /c ") || strings.ContainsAny(c, `"'`) {
				t.Errorf("a machine's shell may not take %q", c)
			}
		}
	}
}

func TestPutOfAStreamAndToADrive(t *testing.T) {
	g, f := newFolder(t, "")
	data := content(3 * pieceSize)
	if err := g.Put(t.Context(), "C:/ProgramData/winbake/m.json", io.MultiReader(bytes.NewReader(data))); err != nil {
		t.Fatal(err)
	}
	var got bytes.Buffer
	if err := g.Get(t.Context(), "C:/ProgramData/winbake/m.json", &got); err != nil || !bytes.Equal(got.Bytes(), data) {
		t.Errorf("%d bytes, %v", got.Len(), err)
	}
	if !slices.Contains(f.commands, `cmd /c mkdir C:\ProgramData\winbake`) {
		t.Errorf("the folder wasn't made: %q", f.commands)
	}
}

// TestPutSideBySide: several files go up at once, into a folder that none of
// them finds. No two open a session at once: where the connection is lost, that
// crashes Packer.
func TestPutSideBySide(t *testing.T) {
	g, f := newFolder(t, "")
	done := make(chan error, 8)
	for i := range 8 {
		go func() {
			done <- g.Put(t.Context(), ".winbake/stage/"+string(rune('a'+i)), bytes.NewReader(content(2*pieceSize+i)))
		}()
	}
	for range 8 {
		if err := <-done; err != nil {
			t.Error(err)
		}
	}
	for i := range 8 {
		got, err := os.ReadFile(f.host(".winbake/stage/" + string(rune('a'+i))))
		if err != nil || !bytes.Equal(got, content(2*pieceSize+i)) {
			t.Errorf("file %d has %d bytes, %v", i, len(got), err)
		}
	}
	if f.most > sessions {
		t.Errorf("there were %d sessions at once", f.most)
	}
	if f.together != 1 {
		t.Errorf("%d sessions were opened at once", f.together)
	}
}

// TestAbandonedUpload: an upload that is given up is still opening its session;
// the next call, which may be that of a retry, waits for it.
func TestAbandonedUpload(t *testing.T) {
	g, f := newFolder(t, "")
	ctx, cancel := context.WithCancel(t.Context())
	answer := make(chan struct{})
	f.spoil = func(what string) error {
		if strings.HasSuffix(what, partSuffix) {
			cancel()
			<-answer
		}
		return nil
	}
	if err := g.Put(ctx, "a", strings.NewReader("x")); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	if len(opening) != 1 {
		t.Error("another session may be opened now")
	}
	close(answer)
	if code, err := New(f, "").Run(t.Context(), "cmd /c exit", nil, nil); code != 7 || err != nil || f.together != 1 {
		t.Errorf("%d, %v, %d sessions at once", code, err, f.together)
	}
}

func TestPutFails(t *testing.T) {
	gone := errors.New("EOF")
	for name, c := range map[string]struct {
		content io.Reader
		spoil   func(what string) error
		want    string
	}{
		"upload":  {bytes.NewReader(content(3 * pieceSize)), on("p1-1", gone), "the upload failed: EOF"},
		"small":   {bytes.NewReader(content(10)), on("a.part", gone), "the upload failed: EOF"},
		"command": {bytes.NewReader(content(10)), on("cmd /c move", gone), "broke off while a command was started"},
		"stream":  {iotest.ErrReader(gone), nil, "read what is uploaded"},
		"source":  {&spoiled{bytes.NewReader(content(3 * pieceSize))}, nil, "couldn't be read to its end here"},
		"no cd":   {bytes.NewReader(nil), on("cmd /c cd", gone), "broke off"},
	} {
		t.Run(name, func(t *testing.T) {
			g, f := newFolder(t, "")
			f.spoil = c.spoil
			err := g.Put(t.Context(), "d/a", c.content)
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("want %q, have %v", c.want, err)
			}
			if _, err := os.Stat(f.host("d/a")); err == nil {
				t.Error("what isn't whole has the file's name")
			}
		})
	}
}

func on(part string, err error) func(string) error {
	return func(what string) error {
		if strings.Contains(what, part) {
			return err
		}
		return nil
	}
}

// spoiled is a file whose disk fails.
type spoiled struct{ *bytes.Reader }

// ReadAt is io.ReaderAt's.
func (s *spoiled) ReadAt(p []byte, at int64) (int, error) {
	if at > pieceSize {
		return 0, errors.New("bad sector")
	}
	return s.Reader.ReadAt(p, at)
}

func TestRun(t *testing.T) {
	g, _ := newFolder(t, "")
	if code, err := g.Run(t.Context(), "cmd /c exit", nil, nil); code != 7 || err != nil {
		t.Errorf("%d, %v", code, err)
	}
	if _, err := g.Run(t.Context(), "cmd /c disconnect", nil, nil); !errors.Is(err, deploy.ErrBroken) {
		t.Errorf("a connection that broke off: %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := g.Run(ctx, "cmd /c cd", nil, nil); !errors.Is(err, context.Canceled) {
		t.Errorf("after the end: %v", err)
	}
}

func TestGetFails(t *testing.T) {
	g, _ := newFolder(t, "")
	if err := g.Get(t.Context(), "nothing", io.Discard); err == nil || !strings.Contains(err.Error(), "can't be read on the machine") {
		t.Errorf("%v", err)
	}
}

// TestFetch: the machine fetches what Packer serves; a program that isn't the
// one that should be there is uploaded instead, and so is everything once the
// server doesn't have something.
func TestFetch(t *testing.T) {
	served := t.TempDir()
	var asked []string
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked = append(asked, r.URL.Path)
		http.FileServer(http.Dir(served)).ServeHTTP(w, r)
	}))
	defer server.Close()
	for name, data := range map[string]string{"good.exe": "program", "evil.exe": "another", "a.tar.gz": "packed elsewhere"} {
		if err := os.WriteFile(filepath.Join(served, name), []byte(data), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	g, f := newFolder(t, server.URL)
	for _, c := range []struct{ name, content, want string }{
		{"d/good.exe", "program", "program"},
		{"d/evil.exe", "program", "program"},
		{"d/a.tar.gz", "packed", "packed elsewhere"}, // its sum is of what is in it
		{"d/request.json", "{}", "{}"},
		{"d/b.tar.gz", "packed", "packed"},
		{"d/a.tar.gz", "packed", "packed"}, // after b.tar.gz, the server isn't asked
	} {
		if err := g.Put(t.Context(), c.name, strings.NewReader(c.content)); err != nil {
			t.Fatal(err)
		}
		if got, err := os.ReadFile(f.host(c.name)); err != nil || string(got) != c.want {
			t.Errorf("%s is %q, %v", c.name, got, err)
		}
	}
	if want := []string{"/good.exe", "/evil.exe", "/a.tar.gz", "/b.tar.gz"}; !slices.Equal(asked, want) {
		t.Errorf("the server was asked for %v, want %v", asked, want)
	}
}

func TestErrorsSayWhatToDo(t *testing.T) {
	g, f := newFolder(t, "")
	f.spoil = on("a.part", errors.New("EOF"))
	err := g.Put(t.Context(), "a", strings.NewReader("x"))
	if f, ok := errors.AsType[*fault.Error](err); !ok || f.Fix == "" {
		t.Errorf("%v", err)
	}
}
