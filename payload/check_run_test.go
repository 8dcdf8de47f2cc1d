package payload

import (
	"archive/tar"
	"bytes"
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
	"time"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/types"

	"github.com/winbake/winbake/internal/finding"
)

// problemsOf checks a source and returns "ID object" of each problem.
func problemsOf(t *testing.T, s *Source, opts CheckOptions) []string {
	t.Helper()
	ps, _, err := Check(t.Context(), s, opts)
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

func expectedOf(f Format, files map[string]string) *Expected {
	e := &Expected{Format: f}
	for _, p := range sortedNames(files) {
		e.Files = append(e.Files, ExpectedFile{Path: p, SHA256: sumOf(files[p])})
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
		format Format
		read   int
	}{
		{"stock flat", stockImage(t, flat), Flat, len(flat) + 3},
		{"stock archived", stockImage(t, archived), Archived, len(archived) + 3},
		{"zstd", imageOf(t, layerBytes(t, plain, zstded(t, plain), types.OCILayerZStd)), Flat, 1},
		{"uncompressed", imageOf(t, layerBytes(t, plain, plain, types.OCIUncompressedLayer)), Flat, 1},
		{"wrong media type", imageOf(t, layerBytes(t, plain, zstded(t, plain), types.OCILayer)), Flat, 1},
		{"links elsewhere", imageOf(t, layerOf(t, slices.Concat([]item{
			{name: "p", kind: tar.TypeSymlink, link: "payload"}, {name: "lib64", kind: tar.TypeSymlink, link: "usr/lib64"}, {name: "lib64/x", body: "x"},
		}, flat)...)), Flat, 1},
		{"dot names", imageOf(t, layerOf(t, dotted(archived)...)), Archived, 1},
		{"a folder twice", imageOf(t, layerOf(t, append(slices.Clone(flat), item{name: "payload/"}, item{name: "payload/generated/", mode: 0o777})...)), Flat, 1},
		{"records of honest tools", imageOf(t, layerOf(t, edit(flat, "payload/powershell/hns.psm1", func(i *item) {
			i.pax = map[string]string{"SCHILY.xattr.user.note": "x", "SCHILY.xattr.security.ima": "x", "RHT.security.selinux": "x", "LIBARCHIVE.creationtime": "1", "SCHILY.ino": "2", "comment": "x"}
		})...)), Flat, 1},
		{"records of macOS, of access lists and of file flags", imageOf(t, layerOf(t, edit(flat, "payload/powershell/hns.psm1", func(i *item) {
			i.pax = map[string]string{"LIBARCHIVE.xattr.com.apple.provenance": "AQAA", "SCHILY.xattr.com.apple.provenance": "x", "hdrcharset": "BINARY",
				"SCHILY.acl.access": "user::rw-", "SCHILY.acl.default": "user::rw-", "SCHILY.fflags": "nodump", "SCHILY.xattr.security.evm": "x"}
		})...)), Flat, 1},
		{"a comment of git archive", imageOf(t, layerOf(t, append([]item{{kind: tar.TypeXGlobalHeader, pax: map[string]string{"comment": "4ae2b61"}}}, flat...)...)), Flat, 1},
		{"appended to a stock image", imageOf(t, osLayer(t), layerOf(t, flat...),
			layerOf(t, slices.Concat([]item{{name: ".wh.winbake"}, {name: "payload/"}, {name: "payload/.wh..wh..opq"}}, archived)...)), Archived, 1},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			exes := map[string]string{}
			opts := CheckOptions{Expected: expectedOf(tt.format, nodeFiles), Executable: collect(t, exes)}
			ps, sum, err := Check(t.Context(), open(t, layoutOf(t, tt.img)), opts)
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
		return edit(arch, name, func(i *item) { i.body = string(gzipped(t, tarOf(t, members...))) })
	}
	hnsArchive := hns + ArchiveSuffix
	tests := []struct {
		name   string
		layers [][]item
		want   []string
	}{
		{"nothing", [][]item{{{name: "etc/x"}}}, []string{IDMissing + " /payload"}},
		{"empty", [][]item{{{name: "payload/"}, {name: "payload/generated/", mode: 0o777}}}, []string{IDMissing + " /payload"}},
		{"changed member", [][]item{edit(arch, csi+ArchiveSuffix, func(i *item) {
			*i = archive(t, "csi-proxy/csi-proxy.exe", flip(nodeFiles["csi-proxy/csi-proxy.exe"], 1000))
		})}, []string{IDFileDigest + " " + csi + ArchiveSuffix, IDSumMismatch + " " + csi + ArchiveSuffix}},
		{"changed flat file", [][]item{edit(flat, csi, func(i *item) { i.body = flip(i.body, 7) })}, []string{IDFileDigest + " " + csi}},
		{"byte flipped in archive", [][]item{edit(arch, hnsArchive, func(i *item) { i.body = flip(i.body, len(i.body)-6) })},
			[]string{IDArchiveMalformed + " " + hnsArchive}},
		{"digit flipped in sums", [][]item{sums(func(s string) string {
			return strings.Replace(s, line("powershell/hns.psm1"), "f"+flip(line("powershell/hns.psm1"), 1)[1:], 1)
		})}, []string{IDSumMismatch + " " + hnsArchive}},
		{"line without a file", [][]item{sums(func(s string) string { return s + sumOf("") + "  /x/flannel.exe\n" })},
			[]string{IDSumAbsent + " payload/sha256sum"}},
		{"file without a line", [][]item{sums(func(s string) string { return strings.Replace(s, line("powershell/hns.psm1"), "", 1) })},
			[]string{IDSumUnlisted + " " + hnsArchive}},
		{"one space", [][]item{sums(func(s string) string {
			return strings.Replace(s, line("powershell/hns.psm1"), strings.Replace(line("powershell/hns.psm1"), "  ", " ", 1), 1)
		})}, []string{IDSumUnlisted + " " + hnsArchive, IDSumMalformed + " payload/sha256sum"}},
		{"line twice", [][]item{sums(func(s string) string { return s + line("powershell/hns.psm1") })}, []string{IDSumDuplicate + " payload/sha256sum"}},
		{"empty sums", [][]item{sums(func(string) string { return "" })}, sumsGone(IDSumMalformed)},
		{"no sums", [][]item{drop(arch, "payload/sha256sum")}, []string{IDSumMissingFile + " payload/sha256sum"}},
		{"sums hidden by an upper layer", [][]item{arch, {{name: "payload/.wh.sha256sum"}}}, []string{IDSumMissingFile + " payload/sha256sum"}},
		{"two files swapped", [][]item{edit(edit(flat, csi, func(i *item) { i.body = nodeFiles["kube-node/kubelet.exe"] }),
			kubelet, func(i *item) { i.body = nodeFiles["csi-proxy/csi-proxy.exe"] })},
			[]string{IDFileDigest + " " + csi, IDFileDigest + " " + kubelet}},
		{"file added", [][]item{with(flat, item{name: "payload/powershell/evil.ps1", body: "x"})}, []string{IDFileUnexpected + " payload/powershell/evil.ps1"}},
		{"file added by an upper layer", [][]item{arch, {archive(t, "evil.exe", "evil")}},
			[]string{IDFileUnexpected + " payload/evil.exe.tar.gz", IDSumUnlisted + " payload/evil.exe.tar.gz"}},
		{"file removed", [][]item{drop(arch, hnsArchive)}, []string{IDFileMissing + " " + hns, IDSumAbsent + " payload/sha256sum"}},
		{"file hidden by an upper layer", [][]item{flat, {{name: "payload/powershell/.wh.hns.psm1"}}}, []string{IDFileMissing + " " + hns}},
		{"folder hidden by a file", [][]item{flat, {{name: "payload/powershell", body: "now a file"}}},
			[]string{IDFileUnexpected + " payload/powershell", IDFileMissing + " " + hns}},
		{"folder emptied", [][]item{flat, {{name: "payload/powershell/.wh..wh..opq"}}}, []string{IDFileMissing + " " + hns}},
		{"all hidden", [][]item{flat, {{name: ".wh.payload"}}}, []string{IDMissing + " /payload"}},
		{"all hidden by an opaque root", [][]item{flat, {{name: ".wh..wh..opq"}}}, []string{IDMissing + " /payload"}},
		{"whiteout beside its files", [][]item{flat, with([]item{{name: ".wh.payload"}}, flat...)}, []string{IDWhiteoutHides + " .wh.payload"}},
		{"whiteout after its file", [][]item{with(flat, item{name: "payload/powershell/.wh.hns.psm1"})},
			[]string{IDWhiteoutHides + " payload/powershell/.wh.hns.psm1"}},
		{"mixed formats", [][]item{edit(arch, hnsArchive, func(i *item) { *i = item{name: hns, body: nodeFiles["powershell/hns.psm1"]} })},
			[]string{IDFormat + " /payload"}},
		{"two cases of one name", [][]item{with(drop(flat, hns), item{name: hns, body: nodeFiles["powershell/hns.psm1"]}, item{name: "payload/HNS.psm1", body: "x"})},
			[]string{IDFileUnexpected + " payload/HNS.psm1", IDBasenameDuplicate + " " + hns}},
		{"generated missing", [][]item{drop(flat, "payload/generated/")}, []string{IDGenerated + " payload/generated"}},
		{"generated not writable", [][]item{edit(flat, "payload/generated/", func(i *item) { i.mode = 0o755 })}, []string{IDMode + " payload/generated"}},
		{"generated not empty", [][]item{with(flat, item{name: "payload/generated/network-conf.ps1", body: "x"})},
			[]string{IDGenerated + " payload/generated/network-conf.ps1"}},
		{"file not readable", [][]item{edit(flat, hns, func(i *item) { i.mode = 0o600 })}, []string{IDMode + " " + hns}},
		{"folder not enterable", [][]item{edit(flat, "payload/powershell/", func(i *item) { i.mode = 0o700 })}, []string{IDMode + " payload/powershell"}},
		{"file writable by all", [][]item{edit(flat, hns, func(i *item) { i.mode = 0o666 })}, []string{IDMode + " " + hns}},
		{"setuid", [][]item{edit(flat, hns, func(i *item) { i.mode = 0o4755 })}, []string{IDTarUnsafe + " " + hns}},
		{"capabilities", [][]item{edit(flat, hns, func(i *item) { i.pax = map[string]string{"SCHILY.xattr.security.capability": "x"} })},
			[]string{IDTarUnsafe + " " + hns}},
		{"absolute path", [][]item{edit(flat, hns, func(i *item) { i.name = "/" + hns })}, []string{IDTarUnsafe + " /" + hns, IDFileMissing + " " + hns}},
		{"dot dot", [][]item{with(flat, item{name: "payload/../etc/shadow", body: "x"})}, []string{IDTarUnsafe + " payload/../etc/shadow"}},
		{"dot dot into it", [][]item{with(flat, item{name: "../payload/evil.exe", body: "x"})}, []string{IDTarUnsafe + " ../payload/evil.exe"}},
		{"backslash", [][]item{with(flat, item{name: `payload\evil.exe`, body: "x"})}, []string{IDTarUnsafe + ` payload\evil.exe`}},
		{"drive letter", [][]item{with(flat, item{name: "payload/C:/x.exe", body: "x"})},
			[]string{IDFileUnexpected + " payload/C:/x.exe", IDTarUnsafe + " payload/C:/x.exe"}},
		{"control character", [][]item{with(flat, item{name: "payload/a\nb", body: "x"})}, []string{IDFileUnexpected + " payload/a\nb", IDTarUnsafe + " payload/a\nb"}},
		{"device name", [][]item{with(flat, item{name: "payload/nul.txt", body: "x"})}, []string{IDFileUnexpected + " payload/nul.txt", IDTarUnsafe + " payload/nul.txt"}},
		{"symlink out", [][]item{edit(flat, hns, func(i *item) { *i = item{name: hns, kind: tar.TypeSymlink, link: "../../etc/passwd"} })},
			[]string{IDFileMissing + " " + hns, IDTarUnsafe + " " + hns}},
		{"symlink out, absolute", [][]item{edit(flat, hns, func(i *item) { *i = item{name: hns, kind: tar.TypeSymlink, link: "/etc/passwd"} })},
			[]string{IDFileMissing + " " + hns, IDTarUnsafe + " " + hns}},
		{"symlink in a circle", [][]item{with(flat, item{name: "payload/a", kind: tar.TypeSymlink, link: "b"}, item{name: "payload/b", kind: tar.TypeSymlink, link: "a"})},
			[]string{IDTarUnsafe + " payload/a", IDTarUnsafe + " payload/b"}},
		{"symlink to a folder", [][]item{with(flat, item{name: "payload/a", kind: tar.TypeSymlink, link: "powershell"})}, []string{IDTarUnsafe + " payload/a"}},
		{"payload is a link", [][]item{flat, {{name: "payload", kind: tar.TypeSymlink, link: "/opt"}}}, []string{IDMissing + " /payload", IDTarUnsafe + " payload"}},
		{"link written through", [][]item{with(flat, item{name: "payload/d", kind: tar.TypeSymlink, link: "/etc"}), {{name: "payload/d/x", body: "x"}}},
			[]string{IDTarUnsafe + " payload/d", IDFileUnexpected + " payload/d/x"}},
		{"hard link out", [][]item{edit(flat, hns, func(i *item) { *i = item{name: hns, kind: tar.TypeLink, link: "etc/passwd"} })},
			[]string{IDFileMissing + " " + hns, IDTarUnsafe + " " + hns}},
		{"hard link to nothing", [][]item{with(flat, item{name: "payload/a", kind: tar.TypeLink, link: "payload/b"})}, []string{IDTarUnsafe + " payload/a"}},
		{"written through a link elsewhere", [][]item{with(flat, item{name: "data", kind: tar.TypeSymlink, link: "./payload"}), {{name: "data/x.exe", body: "x"}}},
			[]string{IDTarUnsafe + " data"}},
		{"written through two links", [][]item{with(flat, item{name: "opt/a", kind: tar.TypeSymlink, link: "../payload"}), {{name: "b", kind: tar.TypeSymlink, link: "/opt"},
			{name: "c", kind: tar.TypeSymlink, link: "b/a/powershell"}, {name: "c/x.exe", body: "x"}}}, []string{IDTarUnsafe + " c"}},
		{"written through a link to the root", [][]item{flat, {{name: "r", kind: tar.TypeSymlink, link: "/"}, {name: "r/payload/x.exe", body: "x"}}},
			[]string{IDTarUnsafe + " r"}},
		{"written through a link of a layer below an opaque one", [][]item{{{name: "data", kind: tar.TypeSymlink, link: "payload"}},
			with([]item{{name: ".wh.winbake"}, {name: "payload/"}, {name: "payload/.wh..wh..opq"}}, append(slices.Clone(flat), item{name: "data/csi-proxy/csi-proxy.exe", body: "x"})...)},
			[]string{IDTarUnsafe + " data"}},
		{"whiteout through a link of a layer below an opaque one", [][]item{{{name: "data", kind: tar.TypeSymlink, link: "payload"}},
			with([]item{{name: ".wh.winbake"}, {name: "payload/"}, {name: "payload/.wh..wh..opq"}}, flat...), {{name: "data/csi-proxy/.wh.csi-proxy.exe"}}},
			[]string{IDTarUnsafe + " data"}},
		{"redirected folder", [][]item{edit(flat, "payload/", func(i *item) { i.pax = map[string]string{"SCHILY.xattr.trusted.overlay.redirect": "/x"} })},
			[]string{IDTarUnsafe + " payload"}},
		{"folder opaque by an attribute", [][]item{flat, {{name: "payload/powershell/", pax: map[string]string{"SCHILY.xattr.user.overlay.opaque": "y"}}}},
			[]string{IDTarUnsafe + " payload/powershell"}},
		{"another mode by an attribute", [][]item{edit(flat, hns, func(i *item) { i.pax = map[string]string{"SCHILY.xattr.user.containers.override_stat": "0:0:0"} })},
			[]string{IDTarUnsafe + " " + hns}},
		{"an attribute of another tar", [][]item{edit(flat, hns, func(i *item) { i.pax = map[string]string{"LIBARCHIVE.xattr.trusted.overlay.opaque": "eQ"} })},
			[]string{IDTarUnsafe + " " + hns}},
		{"a name in another charset", [][]item{with(flat, item{name: "payload/caf\u00e9.exe", body: "x", pax: map[string]string{"hdrcharset": "BINARY"}})},
			[]string{IDFileUnexpected + " payload/caf\u00e9.exe", IDTarUnsafe + " payload/caf\u00e9.exe"}},
		{"holes of another tar", [][]item{edit(flat, hns, func(i *item) { i.pax = map[string]string{"SUN.holesdata": " 0 1", "SCHILY.realsize": "9"} })},
			[]string{IDTarUnsafe + " " + hns}},
		{"path for all that follows", [][]item{with([]item{{kind: tar.TypeXGlobalHeader, pax: map[string]string{"path": "payload/evil.exe"}}}, flat...)},
			[]string{IDTarUnsafe + " global header"}},
		{"another type in another tar", [][]item{edit(flat, hns, func(i *item) { i.pax = map[string]string{"LIBARCHIVE.symlinktype": "dir"} })},
			[]string{IDTarUnsafe + " " + hns}},
		{"folder twice with two modes", [][]item{with(flat, item{name: "payload/generated/", mode: 0o700})}, []string{IDTarUnsafe + " payload/generated"}},
		{"device", [][]item{with(flat, item{name: "payload/null", kind: tar.TypeChar})}, []string{IDTarUnsafe + " payload/null"}},
		{"pipe", [][]item{with(flat, item{name: "payload/pipe", kind: tar.TypeFifo})}, []string{IDTarUnsafe + " payload/pipe"}},
		{"twice in a layer", [][]item{with(flat, item{name: hns, body: "other"})}, []string{IDTarUnsafe + " " + hns}},
		{"below a file", [][]item{with(flat, item{name: hns + "/x", body: "other"})}, []string{IDTarUnsafe + " " + hns + "/x"}},
		{"archive of two", [][]item{member(hnsArchive, item{name: "hns.psm1", body: nodeFiles["powershell/hns.psm1"]}, item{name: "evil.ps1"})},
			[]string{IDArchiveMalformed + " " + hnsArchive}},
		{"archive of none", [][]item{member(hnsArchive)}, []string{IDArchiveMalformed + " " + hnsArchive}},
		{"archive of another name", [][]item{member(hnsArchive, item{name: "../../Windows/hns.psm1", body: "x"})}, []string{IDArchiveMalformed + " " + hnsArchive}},
		{"archive with holes", [][]item{member(hnsArchive, item{name: "hns.psm1", body: nodeFiles["powershell/hns.psm1"], pax: map[string]string{"SUN.holesdata": " 0 1"}})},
			[]string{IDArchiveMalformed + " " + hnsArchive}},
		{"archive of a setuid file", [][]item{member(hnsArchive, item{name: "hns.psm1", body: nodeFiles["powershell/hns.psm1"], mode: 0o4777})},
			[]string{IDArchiveMalformed + " " + hnsArchive}},
		{"archive of a link", [][]item{member(hnsArchive, item{name: "hns.psm1", kind: tar.TypeSymlink, link: `C:\x`})}, []string{IDArchiveMalformed + " " + hnsArchive}},
		{"archive with more behind", [][]item{edit(arch, hnsArchive, func(i *item) {
			i.body = string(gzipped(t, append(tarOf(t, item{name: "hns.psm1", body: nodeFiles["powershell/hns.psm1"]}), "more"...)))
		})}, []string{IDArchiveMalformed + " " + hnsArchive}},
		{"archive that isn't one", [][]item{edit(arch, hnsArchive, func(i *item) { i.body = nodeFiles["powershell/hns.psm1"] })},
			[]string{IDArchiveMalformed + " " + hnsArchive}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			layers := []v1.Layer{osLayer(t)}
			for _, l := range tt.layers {
				layers = append(layers, layerOf(t, l...))
			}
			expected := expectedOf("", nodeFiles)
			if strings.HasPrefix(tt.want[0], IDMissing) {
				expected = nil
			}
			got := problemsOf(t, open(t, layoutOf(t, imageOf(t, layers...))), CheckOptions{Expected: expected})
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
		want = append(want, IDSumUnlisted+" payload/"+p+ArchiveSuffix)
	}
	return append(want, id+" payload/sha256sum")
}

func TestCheckExpected(t *testing.T) {
	t.Parallel()
	img := layoutOf(t, imageOf(t, layerOf(t, archivedItems(t, nodeFiles)...)))
	more := maps.Clone(nodeFiles)
	more["flannel.exe"] = "flannel"
	unknown := expectedOf(Archived, nodeFiles)
	for i := range unknown.Files {
		unknown.Files[i].SHA256 = ""
	}
	tests := []struct {
		name string
		e    *Expected
		want []string
	}{
		{"none", nil, nil},
		{"right", expectedOf(Archived, nodeFiles), nil},
		{"paths alone", unknown, nil},
		{"other format", expectedOf(Flat, nodeFiles), []string{IDFormat + " /payload"}},
		{"format alone", &Expected{Format: Archived}, nil},
		{"one more", expectedOf(Archived, more), []string{IDFileMissing + " payload/flannel.exe"}},
		{"no files", &Expected{Files: []ExpectedFile{}}, func() (ids []string) {
			for _, p := range sortedNames(nodeFiles) {
				ids = append(ids, IDFileUnexpected+" payload/"+p+ArchiveSuffix)
			}
			return ids
		}()},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := problemsOf(t, open(t, img), CheckOptions{Expected: tt.e}); !slices.Equal(got, tt.want) {
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
	got := problemsOf(t, s, CheckOptions{Expected: expectedOf(Flat, want), Executable: collect(t, exes)})
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
		opts := CheckOptions{Executable: collect(t, shown), Programs: []string{"b/b.com"}}
		if got := problemsOf(t, open(t, layoutOf(t, imageOf(t, layerOf(t, items...)))), opts); len(got) > 0 {
			t.Errorf("problems %q", got)
		}
		if want := map[string]string{"a.EXE": "a", "b/b.com": "b"}; !maps.Equal(shown, want) {
			t.Errorf("shown %v, want %v", shown, want)
		}
	}
}

func TestCheckBombs(t *testing.T) {
	t.Parallel()
	zeros := strings.Repeat("\x00", 40<<20)
	inner := item{name: "payload/a.exe.tar.gz", body: string(gzipped(t, tarOf(t, item{name: "a.exe", body: zeros})))}
	small := Limits{MaxFile: 1000, MaxTotal: 1 << 20}
	tests := []struct {
		name   string
		items  []item
		limits Limits
		want   string // object
	}{
		{"zeros in a layer", []item{{name: "payload/a.exe", body: zeros}}, Limits{}, ""},
		{"zeros outside", []item{{name: "a", body: zeros}}, Limits{}, ""},
		{"zeros in an archive", []item{inner}, Limits{}, "payload/a.exe.tar.gz"},
		{"large file", []item{{name: "payload/a.exe", body: zeros[:1001]}}, small, "payload/a.exe"},
		{"large member", []item{archive(t, "a.exe", zeros[:1001])}, small, "payload/a.exe.tar.gz"},
		{"large in all", []item{{name: "x", body: zeros[:2<<20]}}, small, ""},
		{"many whiteouts", slices.Repeat([]item{{name: "payload/.wh.x"}}, 11), Limits{MaxEntries: 10}, "/payload"},
		{"many folders", []item{{name: "payload/" + strings.Repeat("x/", 200)}, {name: "payload/" + strings.Repeat("y/", 200)}, {name: "payload/z/"}}, Limits{MaxEntries: 10}, "/payload"},
		{"a path of many parts", []item{{name: strings.Repeat("x/", 300)}}, Limits{}, ""},
		{"a long path", []item{{name: "usr/" + strings.Repeat("x", 5000), body: "x"}}, Limits{}, ""},
		{"a long link", []item{{name: "x", kind: tar.TypeSymlink, link: strings.Repeat("x/", 300)}}, Limits{}, ""},
		{"a long record of a member", []item{{name: "payload/a.exe.tar.gz", body: string(gzipped(t, longRecord(t)))}}, Limits{}, "payload/a.exe.tar.gz"},
		{"many problems", slices.Repeat([]item{{name: "../x"}}, maxProblems+1), Limits{}, "../x"},
		{"many entries", slices.Repeat([]item{{name: "payload/x/"}}, 11), Limits{MaxEntries: 10}, "/payload"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s := open(t, layoutOf(t, imageOf(t, layerOf(t, tt.items...))))
			ps, _, err := Check(t.Context(), s, CheckOptions{Limits: tt.limits})
			if err != nil {
				t.Fatal(err)
			}
			ps = slices.DeleteFunc(ps, func(p Problem) bool { return p.ID == IDTarUnsafe })
			if len(ps) != 1 || ps[0].ID != IDTarBomb || tt.want != "" && ps[0].Object != tt.want {
				t.Errorf("got %+v, want one %s of %s", ps, IDTarBomb, tt.want)
			}
		})
	}
}

// longRecord is a tar of a file whose PAX header is a byte too long, which
// package tar doesn't write.
func longRecord(t *testing.T) []byte {
	t.Helper()
	b := tarOf(t, item{name: "x", body: strings.Repeat("x", maxHeader+1)}, item{name: "a.exe"})
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
	wantFault(t, load(t.Context(), writeFile(t, b), LoadOptions{}), finding.ExitBlock, "a tar header of more than 1048576 bytes")
	s := open(t, layoutOf(t, imageOf(t, layerBytes(t, b, gzipped(t, b), types.OCILayer))))
	ps, _, err := Check(t.Context(), s, CheckOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if len(ps) != 1 || ps[0].ID != IDTarBomb || ps[0].Observed != "a tar header of more than 1048576 bytes" {
		t.Errorf("got %+v, want one %s", ps, IDTarBomb)
	}
}

func TestCheckIndex(t *testing.T) {
	good := layerOf(t, flatItems(nodeFiles)...)
	bad := layerOf(t, drop(flatItems(nodeFiles), "payload/generated/")...)
	calls := 0
	opts := CheckOptions{Executable: func(string, io.ReaderAt, int64) { calls++ }}
	s := open(t, layoutOf(t, indexOf(t, map[string]v1.Image{
		"linux/amd64": imageOf(t, osLayer(t), good), "linux/arm64": imageOf(t, layerOf(t, item{name: "x"}), good),
		"linux/s390x": imageOf(t, osLayer(t), bad), "windows/amd64": imageOf(t, osLayer(t)),
	})))
	got := problemsOf(t, s, opts)
	if want := []string{IDGenerated + " linux/s390x payload/generated"}; !slices.Equal(got, want) {
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
	ps, sum, err := Check(t.Context(), s, CheckOptions{Executable: func(string, io.ReaderAt, int64) { calls++ }})
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
	opts := CheckOptions{Expected: expectedOf(Flat, nodeFiles)}
	if got := problemsOf(t, open(t, dir), opts); len(got) > 0 {
		t.Errorf("problems %q", got)
	}
	write("csi-proxy/csi-proxy.exe", "other")
	if err := os.Symlink("/etc/passwd", filepath.Join(dir, "evil")); err != nil {
		t.Fatal(err)
	}
	want := []string{IDFileDigest + " payload/csi-proxy/csi-proxy.exe", IDTarUnsafe + " payload/evil"}
	if got := problemsOf(t, open(t, dir), opts); !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestCheckEndsWithItsContext(t *testing.T) {
	s := open(t, layoutOf(t, imageOf(t, layerOf(t, flatItems(nodeFiles)...))))
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, _, err := Check(ctx, s, CheckOptions{}); !errors.Is(err, context.Canceled) {
		t.Errorf("Check = %v, want %v", err, context.Canceled)
	}
}

func TestBuffer(t *testing.T) {
	pool := newChunks(4)
	b := &buffer{pool: pool}
	content := bytes.Repeat([]byte("0123456789abcde"), chunkSize/6)
	for range 2 {
		b.reset()
		if _, err := io.Copy(&bufferWriter{t.Context(), "x", b}, bytes.NewReader(content)); err != nil {
			t.Fatal(err)
		}
		got, err := io.ReadAll(io.NewSectionReader(b, 0, b.size))
		if err != nil || !bytes.Equal(got, content) {
			t.Fatalf("read %d bytes back, %v; want %d", len(got), err, len(content))
		}
	}
	p := make([]byte, 10)
	if n, err := b.ReadAt(p, b.size-4); n != 4 || err != io.EOF {
		t.Errorf("ReadAt beyond the end = %d, %v", n, err)
	}
	if _, err := b.ReadAt(p, -1); err == nil {
		t.Error("ReadAt(-1) gave no error")
	}
	if got, want := len(pool.fresh), 1; got != want {
		t.Errorf("%d chunks are left, want %d: three for the content, each used twice", got, want)
	}
}

// Executables that are held at once share one amount of memory.
func TestBuffersShareMemory(t *testing.T) {
	pool := newChunks(3)
	first, second := &buffer{pool: pool}, &buffer{pool: pool}
	two := make([]byte, 2*chunkSize)
	if _, err := (&bufferWriter{t.Context(), "first", first}).Write(two); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Millisecond)
	defer cancel()
	if _, err := (&bufferWriter{ctx, "second", second}).Write(two); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("a second buffer took memory that the first has: %v", err)
	}
	second.reset()
	go first.reset()
	if _, err := (&bufferWriter{t.Context(), "second", second}).Write(append(two, two[:chunkSize]...)); err != nil {
		t.Errorf("it wasn't given back: %v", err)
	}
	if _, err := (&bufferWriter{t.Context(), "second", second}).Write(two); err == nil {
		t.Error("an executable larger than the memory was taken")
	} else if _, ok := errors.AsType[*LimitError](err); !ok {
		t.Errorf("error %v, want a LimitError", err)
	}
}
