package winenode

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/pkg/sftp"
)

// files is the SFTP server's way to the node's files, with what Windows would
// refuse: a file in use, a folder that isn't the user's.
type files struct {
	n    *Node
	home string // where relative paths start, in SFTP's spelling
}

func (n *Node) serveFiles(ch io.ReadWriter) error {
	f := files{n, "/" + strings.ReplaceAll(n.home, `\`, "/")}
	s := sftp.NewRequestServer(kept{ch}, sftp.Handlers{FileGet: f, FilePut: f, FileCmd: f, FileList: f}, sftp.WithStartDirectory(f.home))
	defer s.Close() //nolint:errcheck // the client may have gone
	if err := s.Serve(); err != nil && !errors.Is(err, io.EOF) {
		return err
	}
	return nil
}

// kept is a channel that the SFTP server can't close: the exit status, which
// scp and sftp look at, goes over it afterwards.
type kept struct{ io.ReadWriter }

// Close is io.Closer's.
func (kept) Close() error { return nil }

// errInUse is what Windows' SFTP server makes of ERROR_SHARING_VIOLATION.
func errInUse(path string) error {
	return fmt.Errorf("%s: the process cannot access the file because it is being used by another process: %w", path, syscall.EBUSY)
}

// windows is the path that a client named: for the sftp package C:\k without
// a slash before it is relative, for Windows it isn't.
func (f files) windows(path string) string {
	if rest, ok := strings.CutPrefix(path, f.home+"/"); ok && len(rest) > 1 && rest[1] == ':' {
		return rest
	}
	return path
}

func (f files) path(named string) (string, error) { return f.n.Path(f.windows(named)) }

// Fileread is sftp.FileReader's.
func (f files) Fileread(r *sftp.Request) (io.ReaderAt, error) {
	path, err := f.path(r.Filepath)
	if err != nil {
		return nil, err
	}
	return os.Open(path)
}

// Filewrite is sftp.FileWriter's.
func (f files) Filewrite(r *sftp.Request) (io.WriterAt, error) {
	path, err := f.changeable(r.Filepath)
	if err != nil {
		return nil, err
	}
	if err := ownCopy(path); err != nil {
		return nil, err
	}
	out, err := os.OpenFile(path, openFlags(r.Pflags()), 0o755)
	if err != nil {
		return nil, err
	}
	windows := f.windows(r.Filepath)
	f.n.Uploaded(windows)
	return &upload{out, windows, &f.n.faults}, nil
}

func openFlags(asked sftp.FileOpenFlags) int {
	flags := os.O_WRONLY
	if asked.Creat {
		flags |= os.O_CREATE
	}
	if asked.Trunc {
		flags |= os.O_TRUNC
	}
	if asked.Excl {
		flags |= os.O_EXCL
	}
	return flags
}

// changeable is where a file is that may be written, or removed.
func (f files) changeable(named string) (string, error) { return f.allowed(named, free) }

// allowed is where a file is that may be changed, if it isn't used more than
// the change can bear.
func (f files) allowed(named string, most use) (string, error) {
	windows := f.windows(named)
	path, err := f.n.Path(windows)
	if err != nil {
		return "", err
	}
	if err := f.n.mayChange(windows); err != nil {
		return "", err
	}
	used, err := useOf(f.n.Prefix, path)
	if err == nil && used > most {
		err = errInUse(windows)
	}
	return path, err
}

// ownCopy gives the node a file of its own where it shares one with the
// template that all nodes are made from.
func ownCopy(path string) error {
	info, err := os.Lstat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	if st, ok := info.Sys().(*syscall.Stat_t); !ok || st.Nlink < 2 || info.IsDir() {
		return nil
	}
	temp := path + ".own"
	if err := copyFile(path, temp); err != nil {
		return err
	}
	return os.Rename(temp, path)
}

// upload is a file that a client writes.
type upload struct {
	file    *os.File
	windows string
	faults  *faults
}

// WriteAt is io.WriterAt's.
func (u *upload) WriteAt(p []byte, offset int64) (int, error) {
	if offset > 0 {
		u.faults.wait(u.windows)
	}
	kept, err := u.faults.take(offset, len(p))
	if err != nil {
		return 0, err
	}
	if _, err := u.file.WriteAt(p[:kept], offset); err != nil {
		return 0, err
	}
	return len(p), nil
}

// Close is io.Closer's.
func (u *upload) Close() error { return u.file.Close() }

// Filecmd is sftp.FileCmder's.
func (f files) Filecmd(r *sftp.Request) error {
	bears := free
	if strings.HasSuffix(r.Method, "Rename") {
		bears = running
	}
	path, err := f.allowed(r.Filepath, bears)
	if err != nil {
		return err
	}
	switch r.Method {
	case "Mkdir":
		return os.Mkdir(path, 0o755)
	case "Remove":
		if info, err := os.Lstat(path); err == nil && info.IsDir() {
			return sftp.ErrSSHFxPermissionDenied // a folder
		}
		return os.Remove(path)
	case "Rmdir":
		return syscall.Rmdir(path)
	case "Rename", "PosixRename":
		return f.rename(path, r.Target, r.Method == "PosixRename")
	case "Setstat":
		return setstat(path, r)
	}
	return sftp.ErrSSHFxOpUnsupported
}

func (f files) rename(path, target string, over bool) error {
	to, err := f.changeable(target)
	if err != nil {
		return err
	}
	if _, err := os.Lstat(to); err == nil && !over {
		return fmt.Errorf("%s: %w", target, fs.ErrExist)
	}
	return os.Rename(path, to)
}

// setstat does what Windows has of it: a file's size and times. Its bits of
// permission go unheeded.
func setstat(path string, r *sftp.Request) error {
	flags, attrs := r.AttrFlags(), r.Attributes()
	if flags.Size {
		if err := os.Truncate(path, int64(attrs.Size)); err != nil {
			return err
		}
	}
	if flags.Acmodtime {
		return os.Chtimes(path, attrs.AccessTime(), attrs.ModTime())
	}
	return nil
}

// Filelist is sftp.FileLister's.
func (f files) Filelist(r *sftp.Request) (sftp.ListerAt, error) {
	path, err := f.path(r.Filepath)
	if err != nil {
		return nil, err
	}
	if r.Method != "List" {
		info, err := os.Stat(path)
		return listing{info}, err
	}
	entries, err := os.ReadDir(path)
	if err != nil {
		return nil, err
	}
	var l listing
	for _, e := range entries {
		if info, err := os.Stat(filepath.Join(path, e.Name())); err == nil {
			l = append(l, info)
		}
	}
	return l, nil
}

type listing []os.FileInfo

// ListAt is sftp.ListerAt's.
func (l listing) ListAt(into []os.FileInfo, offset int64) (int, error) {
	if offset >= int64(len(l)) {
		return 0, io.EOF
	}
	n := copy(into, l[offset:])
	if n < len(into) {
		return n, io.EOF
	}
	return n, nil
}
