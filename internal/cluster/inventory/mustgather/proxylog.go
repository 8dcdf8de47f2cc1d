package mustgather

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"regexp"

	"github.com/klauspost/compress/gzip"

	"github.com/winbake/winbake/internal/base/infile"
	"github.com/winbake/winbake/internal/cluster/inventory"
)

func (r *reader) readLog(name, file string) error {
	f, err := infile.Open(file)
	if err != nil {
		return err
	}
	defer f.Close() // only read
	plain, err := inflated(f)
	if err != nil {
		return err
	}
	r.files++
	lines, err := readProxyLog(plain)
	for _, l := range lines {
		r.c.CSIProxyLog(l.node, l.text, inventory.Evidence{Where: fmt.Sprintf("%s:%d", r.inside(name), l.line), Text: l.text})
	}
	return err
}

type versionLine struct {
	// node is the name in front of the line, "" where there is none.
	node string
	line int
	// text is "Version: v1.1.3-34-g5cb6e2d".
	text string
}

// versionText matches the line that csi-proxy writes when it starts
// (https://github.com/kubernetes-csi/csi-proxy/blob/master/cmd/csi-proxy/main.go),
// behind klog's header. `oc adm node-logs` puts the node's name and a space in
// front of every line when it was asked by a selector, as the gather script
// asks it: https://github.com/openshift/oc/blob/main/pkg/cli/admin/node/logs.go
var versionText = regexp.MustCompile(`^(?:([a-z0-9][a-z0-9.-]*) )?[IWEF][0-9]{4} [^\]]*\] (Version: ?\S*)\s*$`)

// maxLine is how much of a line is looked at. The one that is wanted has some
// 100 bytes.
const maxLine = 4 << 10

// readProxyLog reads the log as a stream: it grows without bound on a node.
func readProxyLog(r io.Reader) ([]versionLine, error) {
	var found []versionLine
	br := bufio.NewReaderSize(r, maxLine)
	for line := 1; ; line++ {
		text, err := nextLine(br)
		if bytes.Contains(text, []byte("] Version:")) {
			if m := versionText.FindSubmatch(text); m != nil {
				found = append(found, versionLine{node: string(m[1]), line: line, text: string(m[2])})
			}
		}
		if errors.Is(err, io.EOF) {
			return found, nil
		}
		if err != nil {
			return found, err
		}
	}
}

func nextLine(br *bufio.Reader) ([]byte, error) {
	head, err := br.ReadSlice('\n')
	if !errors.Is(err, bufio.ErrBufferFull) {
		return head, err
	}
	head = bytes.Clone(head)
	for errors.Is(err, bufio.ErrBufferFull) {
		_, err = br.ReadSlice('\n')
	}
	return head, err
}

// inflated undoes gzip, told by the first bytes: logs come both ways under
// one name.
func inflated(in io.Reader) (io.Reader, error) {
	br := bufio.NewReaderSize(in, 64<<10)
	start, err := br.Peek(2)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, err
	}
	if !bytes.Equal(start, []byte{0x1f, 0x8b}) {
		return br, nil
	}
	return gzip.NewReader(br)
}
