package mustgather

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"regexp"
)

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

// nextLine returns the head of the next line and passes over the rest.
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

// newest keeps the last line of each node: a log is appended to at each start,
// and the last start is the one that runs. Lines without a node are kept as
// long as they differ.
func newest(lines []versionLine) []versionLine {
	var kept []versionLine
	at := map[string]int{}
	for _, l := range lines {
		key := l.node
		if l.node == "" {
			key = " " + l.text
		}
		if i, ok := at[key]; ok {
			kept[i] = l
			continue
		}
		at[key] = len(kept)
		kept = append(kept, l)
	}
	return kept
}
