package images

import (
	"archive/tar"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/types"

	"github.com/winbake/winbake/internal/base/finding"
	"github.com/winbake/winbake/internal/image/oci"
	"github.com/winbake/winbake/internal/image/rootfs"
	"github.com/winbake/winbake/payload"
	"github.com/winbake/winbake/payload/verify"
	"github.com/winbake/winbake/test/support/compressed"
)

// problemsOf checks a source and returns "ID object" of each problem.
func problemsOf(t *testing.T, s *oci.Source, opts verify.Options) []string {
	t.Helper()
	ps, _, err := verify.Check(t.Context(), s, opts)
	if err != nil {
		t.Fatalf("Check: %v", err)
	}
	var ids []string
	for _, p := range ps {
		if p.Why == "" || p.Remedy == "" || p.Observed == "" || p.Severity == "" {
			t.Errorf("a problem says too little: %+v", p)
		}
		ids = append(ids, p.ID+" "+p.Object)
	}
	return ids
}

func expectedOf(f payload.Format, files map[string]string) *payload.Tree {
	e := &payload.Tree{Format: f}
	for _, p := range sortedNames(files) {
		e.Files = append(e.Files, payload.File{Path: p, SHA256: sumOf(files[p])})
	}
	return e
}

func TestCheckGoodImages(t *testing.T) {
	t.Parallel()
	flat, archived := flatItems(nodeFiles), archivedItems(t, nodeFiles)
	plain := tarOf(t, flat...)
	tests := []struct {
		name   string
		img    v1.Image
		format payload.Format
		read   int
	}{
		{"stock flat", stockImage(t, flat), payload.Flat, len(flat) + 3},
		{"stock archived", stockImage(t, archived), payload.Archived, len(archived) + 3},
		{"zstd", imageOf(t, layerBytes(t, plain, zstded(t, plain), types.OCILayerZStd)), payload.Flat, 1},
		{"uncompressed", imageOf(t, layerBytes(t, plain, plain, types.OCIUncompressedLayer)), payload.Flat, 1},
		{"wrong media type", imageOf(t, layerBytes(t, plain, zstded(t, plain), types.OCILayer)), payload.Flat, 1},
		{"links elsewhere", imageOf(t, layerOf(t, slices.Concat([]item{
			{name: "p", kind: tar.TypeSymlink, link: "payload"}, {name: "lib64", kind: tar.TypeSymlink, link: "usr/lib64"}, {name: "lib64/x", body: "x"},
		}, flat)...)), payload.Flat, 1},
		{"dot names", imageOf(t, layerOf(t, dotted(archived)...)), payload.Archived, 1},
		{"a folder twice", imageOf(t, layerOf(t, append(slices.Clone(flat), item{name: "payload/"}, item{name: "payload/generated/", mode: 0o777})...)), payload.Flat, 1},
		{"records of honest tools", imageOf(t, layerOf(t, edit(flat, "payload/powershell/hns.psm1", func(i *item) {
			i.pax = map[string]string{"SCHILY.xattr.user.note": "x", "SCHILY.xattr.security.ima": "x", "RHT.security.selinux": "x", "LIBARCHIVE.creationtime": "1", "SCHILY.ino": "2", "comment": "x"}
		})...)), payload.Flat, 1},
		{"records of macOS, of access lists and of file flags", imageOf(t, layerOf(t, edit(flat, "payload/powershell/hns.psm1", func(i *item) {
			i.pax = map[string]string{"LIBARCHIVE.xattr.com.apple.provenance": "AQAA", "SCHILY.xattr.com.apple.provenance": "x", "hdrcharset": "BINARY",
				"SCHILY.acl.access": "user::rw-", "SCHILY.acl.default": "user::rw-", "SCHILY.fflags": "nodump", "SCHILY.xattr.security.evm": "x"}
		})...)), payload.Flat, 1},
		{"a comment of git archive", imageOf(t, layerOf(t, append([]item{{kind: tar.TypeXGlobalHeader, pax: map[string]string{"comment": "4ae2b61"}}}, flat...)...)), payload.Flat, 1},
		{"appended to a stock image", imageOf(t, osLayer(t), layerOf(t, flat...),
			layerOf(t, slices.Concat([]item{{name: ".wh.winbake"}, {name: "payload/"}, {name: "payload/.wh..wh..opq"}}, archived)...)), payload.Archived, 1},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			exes := map[string]string{}
			opts := verify.Options{Expected: expectedOf(tt.format, nodeFiles), Executable: collect(t, exes)}
			ps, sum, err := verify.Check(t.Context(), open(t, layoutOf(t, tt.img)), opts)
			if err != nil || len(ps) > 0 {
				t.Fatalf("Check: %+v, %v", ps, err)
			}
			got := sum.Images[0]
			if got.Format != tt.format || len(got.Files) != len(nodeFiles) || got.LayersRead != tt.read || got.Platform != "linux/amd64" {
				t.Errorf("summary %+v, want format %s, %d layers read", got, tt.format, tt.read)
			}
			for p, body := range nodeFiles {
				if strings.HasSuffix(p, ".exe") && exes[p] != body {
					t.Errorf("%s was shown with %d bytes, want %d", p, len(exes[p]), len(body))
				}
			}
			if len(exes) != 3 {
				t.Errorf("%d executables shown, want 3", len(exes))
			}
		})
	}
}

func dotted(items []item) []item {
	out := []item{{name: "./"}}
	for _, i := range items {
		i.name = "./" + i.name
		out = append(out, i)
	}
	return out
}

func collect(t *testing.T, into map[string]string) func(string, io.ReaderAt, int64) {
	return func(p string, r io.ReaderAt, size int64) {
		b := make([]byte, size)
		if _, err := r.ReadAt(b, 0); err != nil {
			t.Errorf("ReadAt(%s): %v", p, err)
		}
		into[p] = string(b)
	}
}

// edit changes one item of a payload's layer.
func edit(items []item, name string, fn func(*item)) []item {
	out := slices.Clone(items)
	for i := range out {
		if out[i].name == name {
			fn(&out[i])
			return out
		}
	}
	panic("no item " + name)
}

func drop(items []item, name string) []item {
	return slices.DeleteFunc(slices.Clone(items), func(i item) bool { return i.name == name })
}

func flip(s string, at int) string {
	b := []byte(s)
	b[at] ^= 1
	return string(b)
}

func TestCheckTampered(t *testing.T) {
	t.Parallel()
	const (
		csi     = "payload/csi-proxy/csi-proxy.exe"
		kubelet = "payload/kube-node/kubelet.exe"
		hns     = "payload/powershell/hns.psm1"
	)
	flat, arch := flatItems(nodeFiles), archivedItems(t, nodeFiles)
	with := func(items []item, more ...item) []item { return slices.Concat(items, more) }
	line := func(name string) string {
		return sumOf(nodeFiles[name]) + "  /build/windows-machine-config-operator/" + name + "\n"
	}
	sums := func(fn func(string) string) []item {
		return edit(arch, "payload/sha256sum", func(i *item) { i.body = fn(i.body) })
	}
	member := func(name string, members ...item) []item {
		return edit(arch, name, func(i *item) { i.body = string(compressed.Gzip(t, tarOf(t, members...))) })
	}
	hnsArchive := hns + payload.ArchiveSuffix
	tests := []struct {
		name   string
		layers [][]item
		want   []string
	}{
		{"nothing", [][]item{{{name: "etc/x"}}}, []string{verify.IDMissing + " /payload"}},
		{"empty", [][]item{{{name: "payload/"}, {name: "payload/generated/", mode: 0o777}}}, []string{verify.IDMissing + " /payload"}},
		{"changed member", [][]item{edit(arch, csi+payload.ArchiveSuffix, func(i *item) {
			*i = archive(t, "csi-proxy/csi-proxy.exe", flip(nodeFiles["csi-proxy/csi-proxy.exe"], 1000))
		})}, []string{verify.IDFileDigest + " " + csi + payload.ArchiveSuffix, verify.IDSumMismatch + " " + csi + payload.ArchiveSuffix}},
		{"changed flat file", [][]item{edit(flat, csi, func(i *item) { i.body = flip(i.body, 7) })}, []string{verify.IDFileDigest + " " + csi}},
		{"byte flipped in archive", [][]item{edit(arch, hnsArchive, func(i *item) { i.body = flip(i.body, len(i.body)-6) })},
			[]string{verify.IDArchiveMalformed + " " + hnsArchive}},
		{"digit flipped in sums", [][]item{sums(func(s string) string {
			return strings.Replace(s, line("powershell/hns.psm1"), "f"+flip(line("powershell/hns.psm1"), 1)[1:], 1)
		})}, []string{verify.IDSumMismatch + " " + hnsArchive}},
		{"line without a file", [][]item{sums(func(s string) string { return s + sumOf("") + "  /x/flannel.exe\n" })},
			[]string{verify.IDSumAbsent + " payload/sha256sum"}},
		{"file without a line", [][]item{sums(func(s string) string { return strings.Replace(s, line("powershell/hns.psm1"), "", 1) })},
			[]string{verify.IDSumUnlisted + " " + hnsArchive}},
		{"one space", [][]item{sums(func(s string) string {
			return strings.Replace(s, line("powershell/hns.psm1"), strings.Replace(line("powershell/hns.psm1"), "  ", " ", 1), 1)
		})}, []string{verify.IDSumUnlisted + " " + hnsArchive, verify.IDSumMalformed + " payload/sha256sum"}},
		{"line twice", [][]item{sums(func(s string) string { return s + line("powershell/hns.psm1") })}, []string{verify.IDSumDuplicate + " payload/sha256sum"}},
		{"empty sums", [][]item{sums(func(string) string { return "" })}, sumsGone(verify.IDSumMalformed)},
		{"no sums", [][]item{drop(arch, "payload/sha256sum")}, []string{verify.IDSumMissingFile + " payload/sha256sum"}},
		{"sums hidden by an upper layer", [][]item{arch, {{name: "payload/.wh.sha256sum"}}}, []string{verify.IDSumMissingFile + " payload/sha256sum"}},
		{"two files swapped", [][]item{edit(edit(flat, csi, func(i *item) { i.body = nodeFiles["kube-node/kubelet.exe"] }),
			kubelet, func(i *item) { i.body = nodeFiles["csi-proxy/csi-proxy.exe"] })},
			[]string{verify.IDFileDigest + " " + csi, verify.IDFileDigest + " " + kubelet}},
		{"file added", [][]item{with(flat, item{name: "payload/powershell/evil.ps1", body: "x"})}, []string{verify.IDFileUnexpected + " payload/powershell/evil.ps1"}},
		{"file added by an upper layer", [][]item{arch, {archive(t, "evil.exe", "evil")}},
			[]string{verify.IDFileUnexpected + " payload/evil.exe.tar.gz", verify.IDSumUnlisted + " payload/evil.exe.tar.gz"}},
		{"file removed", [][]item{drop(arch, hnsArchive)}, []string{verify.IDFileMissing + " " + hns, verify.IDSumAbsent + " payload/sha256sum"}},
		{"file hidden by an upper layer", [][]item{flat, {{name: "payload/powershell/.wh.hns.psm1"}}}, []string{verify.IDFileMissing + " " + hns}},
		{"folder hidden by a file", [][]item{flat, {{name: "payload/powershell", body: "now a file"}}},
			[]string{verify.IDFileUnexpected + " payload/powershell", verify.IDFileMissing + " " + hns}},
		{"folder emptied", [][]item{flat, {{name: "payload/powershell/.wh..wh..opq"}}}, []string{verify.IDFileMissing + " " + hns}},
		{"all hidden", [][]item{flat, {{name: ".wh.payload"}}}, []string{verify.IDMissing + " /payload"}},
		{"all hidden by an opaque root", [][]item{flat, {{name: ".wh..wh..opq"}}}, []string{verify.IDMissing + " /payload"}},
		{"whiteout beside its files", [][]item{flat, with([]item{{name: ".wh.payload"}}, flat...)}, []string{verify.IDWhiteoutHides + " .wh.payload"}},
		{"whiteout after its file", [][]item{with(flat, item{name: "payload/powershell/.wh.hns.psm1"})},
			[]string{verify.IDWhiteoutHides + " payload/powershell/.wh.hns.psm1"}},
		{"mixed formats", [][]item{edit(arch, hnsArchive, func(i *item) { *i = item{name: hns, body: nodeFiles["powershell/hns.psm1"]} })},
			[]string{verify.IDFormat + " /payload"}},
		{"two cases of one name", [][]item{with(drop(flat, hns), item{name: hns, body: nodeFiles["powershell/hns.psm1"]}, item{name: "payload/HNS.psm1", body: "x"})},
			[]string{verify.IDFileUnexpected + " payload/HNS.psm1", verify.IDBasenameDuplicate + " " + hns}},
		{"generated missing", [][]item{drop(flat, "payload/generated/")}, []string{verify.IDGenerated + " payload/generated"}},
		{"generated not writable", [][]item{edit(flat, "payload/generated/", func(i *item) { i.mode = 0o755 })}, []string{verify.IDMode + " payload/generated"}},
		{"generated not empty", [][]item{with(flat, item{name: "payload/generated/network-conf.ps1", body: "x"})},
			[]string{verify.IDGenerated + " payload/generated/network-conf.ps1"}},
		{"file not readable", [][]item{edit(flat, hns, func(i *item) { i.mode = 0o600 })}, []string{verify.IDMode + " " + hns}},
		{"folder not enterable", [][]item{edit(flat, "payload/powershell/", func(i *item) { i.mode = 0o700 })}, []string{verify.IDMode + " payload/powershell"}},
		{"file writable by all", [][]item{edit(flat, hns, func(i *item) { i.mode = 0o666 })}, []string{verify.IDMode + " " + hns}},
		{"setuid", [][]item{edit(flat, hns, func(i *item) { i.mode = 0o4755 })}, []string{verify.IDTarUnsafe + " " + hns}},
		{"capabilities", [][]item{edit(flat, hns, func(i *item) { i.pax = map[string]string{"SCHILY.xattr.security.capability": "x"} })},
			[]string{verify.IDTarUnsafe + " " + hns}},
		{"absolute path", [][]item{edit(flat, hns, func(i *item) { i.name = "/" + hns })}, []string{verify.IDTarUnsafe + " /" + hns, verify.IDFileMissing + " " + hns}},
		{"dot dot", [][]item{with(flat, item{name: "payload/../etc/shadow", body: "x"})}, []string{verify.IDTarUnsafe + " payload/../etc/shadow"}},
		{"dot dot into it", [][]item{with(flat, item{name: "../payload/evil.exe", body: "x"})}, []string{verify.IDTarUnsafe + " ../payload/evil.exe"}},
		{"backslash", [][]item{with(flat, item{name: `payload\evil.exe`, body: "x"})}, []string{verify.IDTarUnsafe + ` payload\evil.exe`}},
		{"drive letter", [][]item{with(flat, item{name: "payload/C:/x.exe", body: "x"})},
			[]string{verify.IDFileUnexpected + " payload/C:/x.exe", verify.IDTarUnsafe + " payload/C:/x.exe"}},
		{"control character", [][]item{with(flat, item{name: "payload/a\nb", body: "x"})}, []string{verify.IDFileUnexpected + " payload/a\nb", verify.IDTarUnsafe + " payload/a\nb"}},
		{"device name", [][]item{with(flat, item{name: "payload/nul.txt", body: "x"})}, []string{verify.IDFileUnexpected + " payload/nul.txt", verify.IDTarUnsafe + " payload/nul.txt"}},
		{"symlink out", [][]item{edit(flat, hns, func(i *item) { *i = item{name: hns, kind: tar.TypeSymlink, link: "../../etc/passwd"} })},
			[]string{verify.IDFileMissing + " " + hns, verify.IDTarUnsafe + " " + hns}},
		{"symlink out, absolute", [][]item{edit(flat, hns, func(i *item) { *i = item{name: hns, kind: tar.TypeSymlink, link: "/etc/passwd"} })},
			[]string{verify.IDFileMissing + " " + hns, verify.IDTarUnsafe + " " + hns}},
		{"symlink in a circle", [][]item{with(flat, item{name: "payload/a", kind: tar.TypeSymlink, link: "b"}, item{name: "payload/b", kind: tar.TypeSymlink, link: "a"})},
			[]string{verify.IDTarUnsafe + " payload/a", verify.IDTarUnsafe + " payload/b"}},
		{"symlink to a folder", [][]item{with(flat, item{name: "payload/a", kind: tar.TypeSymlink, link: "powershell"})}, []string{verify.IDTarUnsafe + " payload/a"}},
		{"payload is a link", [][]item{flat, {{name: "payload", kind: tar.TypeSymlink, link: "/opt"}}}, []string{verify.IDMissing + " /payload", verify.IDTarUnsafe + " payload"}},
		{"link written through", [][]item{with(flat, item{name: "payload/d", kind: tar.TypeSymlink, link: "/etc"}), {{name: "payload/d/x", body: "x"}}},
			[]string{verify.IDTarUnsafe + " payload/d", verify.IDFileUnexpected + " payload/d/x"}},
		{"hard link out", [][]item{edit(flat, hns, func(i *item) { *i = item{name: hns, kind: tar.TypeLink, link: "etc/passwd"} })},
			[]string{verify.IDFileMissing + " " + hns, verify.IDTarUnsafe + " " + hns}},
		{"hard link to nothing", [][]item{with(flat, item{name: "payload/a", kind: tar.TypeLink, link: "payload/b"})}, []string{verify.IDTarUnsafe + " payload/a"}},
		{"written through a link elsewhere", [][]item{with(flat, item{name: "data", kind: tar.TypeSymlink, link: "./payload"}), {{name: "data/x.exe", body: "x"}}},
			[]string{verify.IDTarUnsafe + " data"}},
		{"written through two links", [][]item{with(flat, item{name: "opt/a", kind: tar.TypeSymlink, link: "../payload"}), {{name: "b", kind: tar.TypeSymlink, link: "/opt"},
			{name: "c", kind: tar.TypeSymlink, link: "b/a/powershell"}, {name: "c/x.exe", body: "x"}}}, []string{verify.IDTarUnsafe + " c"}},
		{"written through a link to the root", [][]item{flat, {{name: "r", kind: tar.TypeSymlink, link: "/"}, {name: "r/payload/x.exe", body: "x"}}},
			[]string{verify.IDTarUnsafe + " r"}},
		{"written through a link of a layer below an opaque one", [][]item{{{name: "data", kind: tar.TypeSymlink, link: "payload"}},
			with([]item{{name: ".wh.winbake"}, {name: "payload/"}, {name: "payload/.wh..wh..opq"}}, append(slices.Clone(flat), item{name: "data/csi-proxy/csi-proxy.exe", body: "x"})...)},
			[]string{verify.IDTarUnsafe + " data"}},
		{"whiteout through a link of a layer below an opaque one", [][]item{{{name: "data", kind: tar.TypeSymlink, link: "payload"}},
			with([]item{{name: ".wh.winbake"}, {name: "payload/"}, {name: "payload/.wh..wh..opq"}}, flat...), {{name: "data/csi-proxy/.wh.csi-proxy.exe"}}},
			[]string{verify.IDTarUnsafe + " data"}},
		{"redirected folder", [][]item{edit(flat, "payload/", func(i *item) { i.pax = map[string]string{"SCHILY.xattr.trusted.overlay.redirect": "/x"} })},
			[]string{verify.IDTarUnsafe + " payload"}},
		{"folder opaque by an attribute", [][]item{flat, {{name: "payload/powershell/", pax: map[string]string{"SCHILY.xattr.user.overlay.opaque": "y"}}}},
			[]string{verify.IDTarUnsafe + " payload/powershell"}},
		{"folder twice with two modes", [][]item{with(flat, item{name: "payload/generated/", mode: 0o700})}, []string{verify.IDTarUnsafe + " payload/generated"}},
		{"device", [][]item{with(flat, item{name: "payload/null", kind: tar.TypeChar})}, []string{verify.IDTarUnsafe + " payload/null"}},
		{"pipe", [][]item{with(flat, item{name: "payload/pipe", kind: tar.TypeFifo})}, []string{verify.IDTarUnsafe + " payload/pipe"}},
		{"twice in a layer", [][]item{with(flat, item{name: hns, body: "other"})}, []string{verify.IDTarUnsafe + " " + hns}},
		{"below a file", [][]item{with(flat, item{name: hns + "/x", body: "other"})}, []string{verify.IDTarUnsafe + " " + hns + "/x"}},
		{"archive of two", [][]item{member(hnsArchive, item{name: "hns.psm1", body: nodeFiles["powershell/hns.psm1"]}, item{name: "evil.ps1"})},
			[]string{verify.IDArchiveMalformed + " " + hnsArchive}},
		{"archive of none", [][]item{member(hnsArchive)}, []string{verify.IDArchiveMalformed + " " + hnsArchive}},
		{"archive of another name", [][]item{member(hnsArchive, item{name: "../../Windows/hns.psm1", body: "x"})}, []string{verify.IDArchiveMalformed + " " + hnsArchive}},
		{"archive of a setuid file", [][]item{member(hnsArchive, item{name: "hns.psm1", body: nodeFiles["powershell/hns.psm1"], mode: 0o4777})},
			[]string{verify.IDArchiveMalformed + " " + hnsArchive}},
		{"archive of a link", [][]item{member(hnsArchive, item{name: "hns.psm1", kind: tar.TypeSymlink, link: `C:\x`})}, []string{verify.IDArchiveMalformed + " " + hnsArchive}},
		{"archive with more behind", [][]item{edit(arch, hnsArchive, func(i *item) {
			i.body = string(compressed.Gzip(t, append(tarOf(t, item{name: "hns.psm1", body: nodeFiles["powershell/hns.psm1"]}), "more"...)))
		})}, []string{verify.IDArchiveMalformed + " " + hnsArchive}},
		{"archive that isn't one", [][]item{edit(arch, hnsArchive, func(i *item) { i.body = nodeFiles["powershell/hns.psm1"] })},
			[]string{verify.IDArchiveMalformed + " " + hnsArchive}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			layers := []v1.Layer{osLayer(t)}
			for _, l := range tt.layers {
				layers = append(layers, layerOf(t, l...))
			}
			expected := expectedOf("", nodeFiles)
			if strings.HasPrefix(tt.want[0], verify.IDMissing) {
				expected = nil
			}
			got := problemsOf(t, open(t, layoutOf(t, imageOf(t, layers...))), verify.Options{Expected: expected})
			if !slices.Equal(got, tt.want) {
				t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(tt.want, "\n"))
			}
		})
	}
}

// sumsGone is what is found when no line of the sha256sum file can be read.
func sumsGone(id string) []string {
	var want []string
	for _, p := range sortedNames(nodeFiles) {
		want = append(want, verify.IDSumUnlisted+" payload/"+p+payload.ArchiveSuffix)
	}
	return append(want, id+" payload/sha256sum")
}

func TestCheckExpected(t *testing.T) {
	t.Parallel()
	img := layoutOf(t, imageOf(t, layerOf(t, archivedItems(t, nodeFiles)...)))
	more := maps.Clone(nodeFiles)
	more["flannel.exe"] = "flannel"
	unknown := expectedOf(payload.Archived, nodeFiles)
	for i := range unknown.Files {
		unknown.Files[i].SHA256 = ""
	}
	tests := []struct {
		name string
		e    *payload.Tree
		want []string
	}{
		{"none", nil, nil},
		{"right", expectedOf(payload.Archived, nodeFiles), nil},
		{"paths alone", unknown, nil},
		{"other format", expectedOf(payload.Flat, nodeFiles), []string{verify.IDFormat + " /payload"}},
		{"format alone", &payload.Tree{Format: payload.Archived}, nil},
		{"one more", expectedOf(payload.Archived, more), []string{verify.IDFileMissing + " payload/flannel.exe"}},
		{"no files", &payload.Tree{Files: []payload.File{}}, func() (ids []string) {
			for _, p := range sortedNames(nodeFiles) {
				ids = append(ids, verify.IDFileUnexpected+" payload/"+p+payload.ArchiveSuffix)
			}
			return ids
		}()},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := problemsOf(t, open(t, img), verify.Options{Expected: tt.e}); !slices.Equal(got, tt.want) {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
}

func TestCheckLinksWithin(t *testing.T) {
	hns := nodeFiles["powershell/hns.psm1"]
	items := slices.Concat(flatItems(nodeFiles), []item{
		{name: "payload/sym.exe", kind: tar.TypeSymlink, link: "csi-proxy/csi-proxy.exe"},
		{name: "payload/abs.ps1", kind: tar.TypeSymlink, link: "/payload/powershell/hns.psm1"},
		{name: "payload/hard.ps1", kind: tar.TypeLink, link: "payload/powershell/hns.psm1"},
	})
	upper := []item{
		{name: "payload/low.ps1", kind: tar.TypeLink, link: "payload/powershell/hns.psm1"},
		{name: "payload/powershell/hns.psm1", body: "newer"},
	}
	want := maps.Clone(nodeFiles)
	want["sym.exe"], want["abs.ps1"], want["hard.ps1"] = want["csi-proxy/csi-proxy.exe"], "newer", hns
	want["low.ps1"], want["powershell/hns.psm1"] = "newer", "newer"
	exes := map[string]string{}
	s := open(t, layoutOf(t, imageOf(t, layerOf(t, items...), layerOf(t, upper...))))
	got := problemsOf(t, s, verify.Options{Expected: expectedOf(payload.Flat, want), Executable: collect(t, exes)})
	if len(got) > 0 {
		t.Errorf("problems %q", got)
	}
	if exes["sym.exe"] != want["sym.exe"] {
		t.Errorf("the link's content wasn't shown: %d bytes", len(exes["sym.exe"]))
	}
}

// What Windows starts needn't be called .exe.
func TestCheckShowsPrograms(t *testing.T) {
	files := map[string]string{"a.EXE": "a", "b/b.com": "b", "c.com": "c", "d.exe.txt": "d"}
	shown := map[string]string{}
	for _, items := range [][]item{flatItems(files), archivedItems(t, files)} {
		clear(shown)
		opts := verify.Options{Executable: collect(t, shown), Programs: []string{"b/b.com"}}
		if got := problemsOf(t, open(t, layoutOf(t, imageOf(t, layerOf(t, items...)))), opts); len(got) > 0 {
			t.Errorf("problems %q", got)
		}
		if want := map[string]string{"a.EXE": "a", "b/b.com": "b"}; !maps.Equal(shown, want) {
			t.Errorf("shown %v, want %v", shown, want)
		}
	}
}

func limits(l rootfs.Limits) verify.Limits {
	return verify.Limits{MaxFile: l.MaxFile, MaxTotal: l.MaxTotal, MaxEntries: l.MaxEntries}
}

func TestCheckBombs(t *testing.T) {
	t.Parallel()
	zeros := strings.Repeat("\x00", 40<<20)
	inner := item{name: "payload/a.exe.tar.gz", body: string(compressed.Gzip(t, tarOf(t, item{name: "a.exe", body: zeros})))}
	small := rootfs.Limits{MaxFile: 1000, MaxTotal: 1 << 20}
	tests := []struct {
		name   string
		items  []item
		limits rootfs.Limits
		want   string // object
	}{
		{"zeros in a layer", []item{{name: "payload/a.exe", body: zeros}}, rootfs.Limits{MaxTotal: 32 << 20}, ""},
		{"zeros outside", []item{{name: "a", body: zeros}}, rootfs.Limits{MaxTotal: 32 << 20}, ""},
		{"zeros in an archive", []item{inner}, rootfs.Limits{MaxTotal: 32 << 20}, "payload/a.exe.tar.gz"},
		{"large file", []item{{name: "payload/a.exe", body: zeros[:1001]}}, small, "payload/a.exe"},
		{"large member", []item{archive(t, "a.exe", zeros[:1001])}, small, "payload/a.exe.tar.gz"},
		{"large in all", []item{{name: "x", body: zeros[:2<<20]}}, small, ""},
		{"many whiteouts", slices.Repeat([]item{{name: "payload/.wh.x"}}, 11), rootfs.Limits{MaxEntries: 10}, "/payload"},
		{"many folders", []item{{name: "payload/" + strings.Repeat("x/", 200)}, {name: "payload/" + strings.Repeat("y/", 200)}, {name: "payload/z/"}}, rootfs.Limits{MaxEntries: 10}, "/payload"},
		{"a long path", []item{{name: "usr/" + strings.Repeat("x", 5000), body: "x"}}, rootfs.Limits{}, ""},
		{"a long link", []item{{name: "x", kind: tar.TypeSymlink, link: strings.Repeat("x/", 3000)}}, rootfs.Limits{}, ""},
		{"a long record of a member", []item{{name: "payload/a.exe.tar.gz", body: string(compressed.Gzip(t, longRecord(t)))}}, rootfs.Limits{}, "payload/a.exe.tar.gz"},
		{"many problems", slices.Repeat([]item{{name: "../x"}}, 10_000+1), rootfs.Limits{}, "../x"},
		{"many entries", slices.Repeat([]item{{name: "payload/x/"}}, 11), rootfs.Limits{MaxEntries: 10}, "/payload"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s := open(t, layoutOf(t, imageOf(t, layerOf(t, tt.items...))))
			ps, _, err := verify.Check(t.Context(), s, verify.Options{Limits: limits(tt.limits)})
			if err != nil {
				t.Fatal(err)
			}
			ps = slices.DeleteFunc(ps, func(p verify.Problem) bool { return p.ID == verify.IDTarUnsafe })
			if len(ps) != 1 || ps[0].ID != verify.IDTarBomb || tt.want != "" && ps[0].Object != tt.want {
				t.Errorf("got %+v, want one %s of %s", ps, verify.IDTarBomb, tt.want)
			}
		})
	}
}

// longRecord is a tar of a file whose PAX header is a byte too long, which
// package tar doesn't write.
func longRecord(t *testing.T) []byte {
	t.Helper()
	b := tarOf(t, item{name: "x", body: strings.Repeat("x", 1<<20+1)}, item{name: "a.exe"})
	const checksum, kind = 148, 156
	var sum int
	b[kind] = tar.TypeXHeader
	copy(b[checksum:], "        ")
	for _, c := range b[:512] {
		sum += int(c)
	}
	copy(b[checksum:], fmt.Sprintf("%06o\x00", sum))
	return b
}

func TestLongRecord(t *testing.T) {
	t.Parallel()
	b := longRecord(t)
	wantFault(t, load(t.Context(), writeFile(t, b), oci.Options{}), finding.ExitBlock, "header field too long")
	s := open(t, layoutOf(t, imageOf(t, layerBytes(t, b, compressed.Gzip(t, b), types.OCILayer))))
	ps, _, err := verify.Check(t.Context(), s, verify.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if len(ps) != 1 || ps[0].ID != verify.IDTarBomb || ps[0].Observed != "a tar header of more than 1048576 bytes" {
		t.Errorf("got %+v, want one %s", ps, verify.IDTarBomb)
	}
}

func TestCheckIndex(t *testing.T) {
	good := layerOf(t, flatItems(nodeFiles)...)
	bad := layerOf(t, drop(flatItems(nodeFiles), "payload/generated/")...)
	calls := 0
	opts := verify.Options{Executable: func(string, io.ReaderAt, int64) { calls++ }}
	s := open(t, layoutOf(t, indexOf(t, map[string]v1.Image{
		"linux/amd64": imageOf(t, osLayer(t), good), "linux/arm64": imageOf(t, layerOf(t, item{name: "x"}), good),
		"linux/s390x": imageOf(t, osLayer(t), bad), "windows/amd64": imageOf(t, osLayer(t)),
	})))
	got := problemsOf(t, s, opts)
	if want := []string{verify.IDGenerated + " linux/s390x payload/generated"}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
	if calls != 9 {
		t.Errorf("%d executables shown, want 9", calls)
	}
}

// The payload layer is opaque in images that bake makes, so the images of an
// index share all that is read of them.
func TestCheckIndexOfOneLayer(t *testing.T) {
	top := layerOf(t, slices.Concat([]item{{name: ".wh.winbake"}, {name: "payload/"}, {name: "payload/.wh..wh..opq"}}, flatItems(nodeFiles))...)
	calls := 0
	s := open(t, layoutOf(t, indexOf(t, map[string]v1.Image{
		"linux/amd64": imageOf(t, osLayer(t), top), "linux/arm64": imageOf(t, layerOf(t, item{name: "x"}), top),
	})))
	ps, sum, err := verify.Check(t.Context(), s, verify.Options{Executable: func(string, io.ReaderAt, int64) { calls++ }})
	if err != nil || len(ps) > 0 {
		t.Fatalf("Check: %+v, %v", ps, err)
	}
	if calls != 3 || len(sum.Images) != 2 || sum.Images[1].LayersRead != 0 || len(sum.Images[1].Files) != len(nodeFiles) {
		t.Errorf("%d executables shown, summary %+v", calls, sum)
	}
}

func TestCheckDir(t *testing.T) {
	dir := t.TempDir()
	write := func(p, body string) {
		t.Helper()
		p = filepath.Join(dir, p)
		if err := os.MkdirAll(filepath.Dir(p), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(p, []byte(body), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for p, body := range nodeFiles {
		write(p, body)
	}
	if err := os.Mkdir(filepath.Join(dir, "generated"), 0o777); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(filepath.Join(dir, "generated"), 0o777); err != nil {
		t.Fatal(err)
	}
	opts := verify.Options{Expected: expectedOf(payload.Flat, nodeFiles)}
	if got := problemsOf(t, open(t, dir), opts); len(got) > 0 {
		t.Errorf("problems %q", got)
	}
	write("csi-proxy/csi-proxy.exe", "other")
	if err := os.Symlink("/etc/passwd", filepath.Join(dir, "evil")); err != nil {
		t.Fatal(err)
	}
	want := []string{verify.IDFileDigest + " payload/csi-proxy/csi-proxy.exe", verify.IDTarUnsafe + " payload/evil"}
	if got := problemsOf(t, open(t, dir), opts); !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestCheckEndsWithItsContext(t *testing.T) {
	s := open(t, layoutOf(t, imageOf(t, layerOf(t, flatItems(nodeFiles)...))))
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, _, err := verify.Check(ctx, s, verify.Options{}); !errors.Is(err, context.Canceled) {
		t.Errorf("Check = %v, want %v", err, context.Canceled)
	}
}
