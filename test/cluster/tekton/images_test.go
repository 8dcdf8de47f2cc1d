//go:build cluster

package tekton

import (
	"archive/tar"
	"compress/gzip"
	"errors"
	"io"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-containerregistry/pkg/name"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/remote"
	"github.com/google/go-containerregistry/pkg/v1/tarball"

	"github.com/winbake/winbake/test/cluster/apiserver"
)

// content is what an image has: files and folders of this machine by their place in the
// image, and symbolic links.
type content struct {
	files map[string]string
	links map[string]string
}

// push makes an image and pushes it to the registry of the node; it returns the image by
// digest.
func push(t *testing.T, ref string, c content, config v1.Config) string {
	t.Helper()
	to, err := name.ParseReference(ref, name.Insecure)
	if err != nil {
		t.Fatal(err)
	}
	layer, err := tarball.LayerFromOpener(func() (io.ReadCloser, error) {
		r, w := io.Pipe()
		go func() { w.CloseWithError(c.write(w)) }()
		return r, nil
	}, tarball.WithCompressionLevel(gzip.NoCompression))
	if err != nil {
		t.Fatal(err)
	}
	img, err := mutate.AppendLayers(empty.Image, layer)
	if err != nil {
		t.Fatal(err)
	}
	file, err := img.ConfigFile()
	if err != nil {
		t.Fatal(err)
	}
	file = file.DeepCopy()
	file.OS, file.Architecture, file.Config = "linux", "amd64", config
	if img, err = mutate.ConfigFile(img, file); err != nil {
		t.Fatal(err)
	}
	if err := remote.Write(to, img); err != nil {
		t.Fatal(err)
	}
	digest, err := img.Digest()
	if err != nil {
		t.Fatal(err)
	}
	return to.Context().String() + "@" + digest.String()
}

func (c content) write(w io.Writer) error {
	tw := tar.NewWriter(w)
	folders := map[string]bool{".": true, "/": true}
	var folder func(dir string) error
	folder = func(dir string) error {
		if folders[dir] {
			return nil
		}
		folders[dir] = true
		mode := int64(0o755)
		if dir == "/tmp" {
			mode = 0o1777
		}
		return errors.Join(folder(path.Dir(dir)), tw.WriteHeader(&tar.Header{Typeflag: tar.TypeDir, Name: dir[1:] + "/", Mode: mode}))
	}
	// The layer is written several times, and must be the same each time.
	for _, at := range slices.Sorted(maps.Keys(c.links)) {
		to := c.links[at]
		if err := errors.Join(folder(path.Dir(at)), tw.WriteHeader(&tar.Header{Typeflag: tar.TypeSymlink, Name: at[1:], Linkname: to, Mode: 0o777})); err != nil {
			return err
		}
	}
	for _, at := range slices.Sorted(maps.Keys(c.files)) {
		source := c.files[at]
		if source == "" {
			if err := folder(at); err != nil {
				return err
			}
			continue
		}
		err := filepath.WalkDir(source, func(name string, e fs.DirEntry, err error) error {
			if err != nil {
				return err
			}
			inside, err := filepath.Rel(source, name)
			if err != nil {
				return err
			}
			to := path.Join(at, filepath.ToSlash(inside))
			if e.IsDir() {
				return folder(to)
			}
			if err := folder(path.Dir(to)); err != nil {
				return err
			}
			return add(tw, name, to)
		})
		if err != nil {
			return err
		}
	}
	return tw.Close()
}

func add(tw *tar.Writer, name, to string) error {
	info, err := os.Lstat(name)
	if err != nil {
		return err
	}
	link := ""
	if info.Mode()&fs.ModeSymlink != 0 {
		if link, err = os.Readlink(name); err != nil {
			return err
		}
	}
	h, err := tar.FileInfoHeader(info, link)
	if err != nil {
		return err
	}
	if strings.HasPrefix(to, "/usr/local/go/bin/") || strings.HasPrefix(to, "/usr/local/go/pkg/tool/") {
		h.Mode |= 0o111 // a module has no such bits
	}
	h.Name, h.Uid, h.Gid, h.Uname, h.Gname = to[1:], 0, 0, "", ""
	if err := tw.WriteHeader(h); err != nil || !info.Mode().IsRegular() {
		return err
	}
	f, err := os.Open(name)
	if err != nil {
		return err
	}
	_, err = io.Copy(tw, f)
	return errors.Join(err, f.Close())
}

// programs are those that the tasks' scripts run.
var programs = []string{"bash", "sh", "git", "make", "env", "cat", "cp", "mv", "rm", "mkdir", "ls", "ln", "chmod", "grep", "sed", "awk", "find", "xargs", "head", "tail", "sort", "tr", "cut", "paste",
	"wc", "date", "sleep", "id", "uname", "dirname", "basename", "mktemp", "tee", "touch", "tar", "gzip", "true", "printf"}

// toolchain is the Go that the pins of the test compile with.
const toolchain = "go1.26.8"

// builder are this machine's own programs with the libraries that they link, and Go: it
// stands for the image with Go, git, make and bash of ci/tekton, which can't be pulled here.
func builder(t *testing.T) content {
	t.Helper()
	// As it was published: this machine's own may be another.
	goroot, _, err := apiserver.Module(t.Context(), ".", "golang.org/toolchain@v0.0.1-"+toolchain+"."+runtime.GOOS+"-"+runtime.GOARCH)
	if err != nil {
		t.Fatal(err)
	}
	c := content{files: map[string]string{"/usr/local/go": goroot, "/tmp": "", "/work": "", "/etc/ssl/certs/ca-certificates.crt": "/etc/ssl/certs/ca-certificates.crt"},
		links: map[string]string{"/bin": "usr/bin", "/lib": "usr/lib", "/lib64": "usr/lib64"}}
	git, err := exec.CommandContext(t.Context(), "git", "--exec-path").Output()
	if err != nil {
		t.Fatal(err)
	}
	var linked []string
	take := func(named, at string) {
		file, err := filepath.EvalSymlinks(named)
		if err != nil {
			t.Fatal(err)
		}
		c.files[at] = file
		linked = append(linked, file)
	}
	for _, p := range programs {
		file, err := exec.LookPath(p)
		if err != nil {
			t.Fatal(err)
		}
		take(file, "/usr/bin/"+p)
	}
	core := strings.TrimSpace(string(git))
	take(filepath.Join(core, "git-remote-http"), filepath.Join(core, "git-remote-http"))
	out, err := exec.CommandContext(t.Context(), "ldd", linked...).Output()
	if exit := (*exec.ExitError)(nil); err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	libraries := regexp.MustCompile(`/[^ ():]+\.so[^ ():]*`).FindAllString(string(out), -1)
	slices.Sort(libraries)
	for _, lib := range slices.Compact(libraries) {
		at := lib
		if !strings.HasPrefix(at, "/usr/") {
			at = "/usr" + at
		}
		file, err := filepath.EvalSymlinks(lib)
		if err != nil {
			t.Fatal(err)
		}
		c.files[at] = file
	}
	return c
}
