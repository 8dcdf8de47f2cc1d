package images

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/winbake/winbake/payload"
)

// treeOf makes a tree of paths and contents; opens counts how often any of
// its files is opened.
func treeOf(f payload.Format, files map[string]string) (t *payload.Tree, opens *atomic.Int64) {
	t, opens = &payload.Tree{Format: f}, &atomic.Int64{}
	for p, body := range files {
		t.Files = append(t.Files, payload.File{
			Path: p, Size: int64(len(body)), SHA256: fmt.Sprintf("%x", sha256.Sum256([]byte(body))),
			Open: func() (io.ReadCloser, error) {
				opens.Add(1)
				return io.NopCloser(strings.NewReader(body)), nil
			},
		})
	}
	return t, opens
}

// sampleFiles is a small payload with files of several blocks.
func sampleFiles() map[string]string {
	return map[string]string{
		"csi-proxy/csi-proxy.exe":              programLike(1, 1<<20+1<<19),
		"kube-node/kubelet.exe":                programLike(2, 2<<20+17),
		"cni/host-local.exe":                   programLike(3, 100),
		"cni/win-overlay.exe":                  "",
		"containerd/containerd_conf.toml":      "version = 2\n",
		"windows-instance-config-daemon.exe":   programLike(4, 1<<18),
		"cni-extra/sorts-before-a-slash.ps1":   "exit 0\r\n",
		"powershell/windows-defender-ex-l.ps1": "exit 0\r\n",
	}
}

// programLike gives bytes that compress to about a third, as programs do.
func programLike(seed uint64, n int) string {
	type key struct {
		seed uint64
		n    int
	}
	if s, ok := programs.Load(key{seed, n}); ok {
		return s.(string)
	}
	r := rand.New(rand.NewPCG(seed, 7))
	words := make([][]byte, 400)
	for i := range words {
		words[i] = make([]byte, 2+r.IntN(14))
		for j := range words[i] {
			words[i][j] = byte(r.Uint32())
		}
	}
	var b bytes.Buffer
	for b.Len() < n {
		b.Write(words[min(r.IntN(400), r.IntN(400))])
	}
	programs.Store(key{seed, n}, b.String()[:n])
	return b.String()[:n]
}

// programs keeps what programLike gave: making it takes longer than most tests.
var programs sync.Map

func shuffled(t *payload.Tree) *payload.Tree {
	files := slices.Clone(t.Files)
	rand.Shuffle(len(files), func(i, j int) { files[i], files[j] = files[j], files[i] })
	return &payload.Tree{Format: t.Format, Files: files}
}

func TestTreeCheck(t *testing.T) {
	sum := fmt.Sprintf("%x", sha256.Sum256(nil))
	tests := []struct {
		name  string
		paths []string
		want  []string // nothing: fine
	}{
		{"fine", []string{"csi-proxy/csi-proxy.exe", "a.exe", "x/sha256sum.txt", "generated.ps1", "file with spaces"}, nil},
		{"long and not ASCII", []string{strings.Repeat("d/", 120) + "ä.exe"}, nil},
		{"nothing", nil, []string{"no files"}},
		{"empty path", []string{""}, []string{`"": not a clean relative path`}},
		{"absolute", []string{"/payload/a"}, []string{"not a clean relative path"}},
		{"dot dot", []string{"../a"}, []string{"not a clean relative path"}},
		{"dot dot within", []string{"a/../b"}, []string{"not a clean relative path"}},
		{"slash at the end", []string{"a/"}, []string{"not a clean relative path"}},
		{"the folder itself", []string{"."}, []string{"not a clean relative path"}},
		{"backslash", []string{`a\b`}, []string{`character '\\' isn't allowed`}},
		{"colon", []string{"a:b"}, []string{"character ':'"}},
		{"line feed", []string{"a\nb"}, []string{`character '\n'`}},
		{"two spaces", []string{"a  b"}, []string{"two spaces"}},
		{"dot at the end", []string{"a./b"}, []string{"ends in a dot"}},
		{"device", []string{"x/nul.exe"}, []string{`"x/nul.exe": NUL is a device`}},
		{"device as a folder", []string{"Com1/a"}, []string{"COM1 is a device"}},
		{"like a device", []string{"console.exe", "com10", "a.nul"}, nil},
		{"whiteout", []string{"x/.wh.y"}, []string{".wh."}},
		{"generated", []string{"generated/a"}, []string{"belongs to the operator"}},
		{"generated in capitals", []string{"Generated/a"}, []string{"belongs to the operator"}},
		{"checksums", []string{"sha256sum"}, []string{"checksum file's place"}},
		{"same path", []string{"a/x", "a/x"}, []string{`"a/x": same base name as "a/x"`}},
		{"same base name", []string{"a/x.exe", "b/X.EXE"}, []string{`"b/X.EXE": same base name as "a/x.exe"`}},
		{"file as folder", []string{"a", "A/b"}, []string{`"A/b": below the file "a"`}},
		{"several", []string{"../a", "b:"}, []string{`"../a"`, `"b:"`}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			tree := &payload.Tree{Format: payload.Flat}
			for _, p := range tt.paths {
				tree.Files = append(tree.Files, payload.File{Path: p, SHA256: sum, Open: func() (io.ReadCloser, error) { return nil, nil }})
			}
			checkText(t, tree.Check(), tt.want)
		})
	}
}

func TestTreeCheckFields(t *testing.T) {
	open := func() (io.ReadCloser, error) { return nil, nil }
	sum := strings.Repeat("a", 64)
	tests := []struct {
		name string
		tree payload.Tree
		want string
	}{
		{"format", payload.Tree{Format: "zip", Files: []payload.File{{Path: "a", SHA256: sum, Open: open}}}, `format "zip"`},
		{"sum", payload.Tree{Format: payload.Flat, Files: []payload.File{{Path: "a", SHA256: "abc", Open: open}}}, `sha256 "abc"`},
		{"sum in capitals", payload.Tree{Format: payload.Flat, Files: []payload.File{{Path: "a", SHA256: strings.Repeat("A", 64), Open: open}}}, "lower-case"},
		{"size", payload.Tree{Format: payload.Flat, Files: []payload.File{{Path: "a", SHA256: sum, Size: -1, Open: open}}}, "negative size"},
		{"content", payload.Tree{Format: payload.Flat, Files: []payload.File{{Path: "a", SHA256: sum}}}, "no content"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) { checkText(t, tt.tree.Check(), []string{tt.want}) })
	}
}

// checkText holds an error to texts that must be in it; none of them: no error.
func checkText(t *testing.T, err error, want []string) {
	t.Helper()
	if len(want) == 0 {
		if err != nil {
			t.Fatalf("error: %v", err)
		}
		return
	}
	if err == nil {
		t.Fatalf("no error, want one with %q", want)
	}
	for _, w := range want {
		if !strings.Contains(err.Error(), w) {
			t.Errorf("error %q lacks %q", err, w)
		}
	}
}

var errFull = errors.New("disk full")
