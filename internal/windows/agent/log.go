package agent

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
)

// What klog and csi-proxy write when they start: klog's header goes to the
// file at once, the version when klog flushes its buffer, after 5 seconds
// (https://github.com/kubernetes/klog, rotateFile; csi-proxy, cmd/csi-proxy/main.go).
const (
	logHeader  = "Log file created at: "
	logVersion = "] Version: "
)

// errNotYet says that the running program's version isn't in its log so far.
var errNotYet = errors.New("its log has no version since the program was started: it is written some seconds later, or the log was begun again since")

// versionInLog returns the version that was written after the last start.
func versionInLog(path string) (string, error) {
	f, err := os.Open(path)
	if err != nil {
		return "", fmt.Errorf("open its log: %w", err)
	}
	defer f.Close() // only read
	return scanLog(f)
}

// scanLog keeps the last version, and forgets it at each header.
func scanLog(r io.Reader) (version string, err error) {
	err = errNotYet
	for in := bufio.NewReaderSize(r, 1<<20); ; {
		line, rerr := in.ReadSlice('\n') // a line of a MiB comes in parts: it isn't one of these
		if _, mark, ok := bytes.Cut(line, []byte(logVersion)); ok && rerr == nil {
			version, err = string(bytes.TrimSpace(mark)), nil
		} else if ok || bytes.Contains(line, []byte(logHeader)) {
			version, err = "", errNotYet
		}
		switch {
		case rerr == io.EOF:
			return version, err
		case rerr != nil && !errors.Is(rerr, bufio.ErrBufferFull):
			return "", fmt.Errorf("read its log: %w", rerr)
		}
	}
}
