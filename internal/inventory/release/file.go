package release

import (
	"bytes"
	"errors"
	"fmt"
	"io"

	"github.com/google/go-containerregistry/pkg/compression"
	"github.com/winbake/winbake/internal/fault"
	"github.com/winbake/winbake/internal/infile"
	"github.com/winbake/winbake/internal/ociimage"
	"github.com/winbake/winbake/internal/shell"
)

// maxText bounds a file that is read whole. Those of OpenShift 4.20 have some
// 150 KiB, `oc adm release info -o json` of one has under 2 MiB.
const maxText = 32 << 20

func readBounded(file string) ([]byte, error) {
	f, err := infile.Open(file)
	if err != nil {
		return nil, unreadable(file, err)
	}
	defer f.Close() // only read
	src, err := io.ReadAll(io.LimitReader(f, maxText+1))
	if err != nil {
		return nil, unreadable(file, err)
	}
	if len(src) > maxText {
		return nil, tooLarge(file)
	}
	return src, nil
}

func tooLarge(where string) error {
	return &fault.Error{
		What: fmt.Sprintf("larger than %d MiB, which no image-references file is", maxText>>20), Where: where,
		Fix: "give image-references, or save it again: " + saveInfo,
	}
}

func unreadable(file string, err error) error {
	return &fault.Error{What: "can't be read: " + infile.Cause(err), Where: file, Err: err, Fix: "ls -ld " + shell.Word(file)}
}

// isArchive tells a tar archive, compressed or not, by its magic number: the
// letters "ustar" at 257 (POSIX pax), or those of gzip and zstd.
func isArchive(file string) (bool, error) {
	f, err := infile.Open(file)
	if err != nil {
		return false, unreadable(file, err)
	}
	defer f.Close() // only read
	head := make([]byte, 512)
	n, err := io.ReadFull(f, head)
	if err != nil && !errors.Is(err, io.ErrUnexpectedEOF) && !errors.Is(err, io.EOF) {
		return false, unreadable(file, err)
	}
	head = head[:n]
	return ociimage.Sniff(head) != compression.None || len(head) > 262 && bytes.Equal(head[257:262], []byte("ustar")), nil
}
