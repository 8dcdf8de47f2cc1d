package agent

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
)

// What klog and csi-proxy write when they start: klog's header goes to the
// file at once, the version when klog flushes its buffer, after 5 seconds
// (https://github.com/kubernetes/klog, rotateFile; csi-proxy, cmd/csi-proxy/main.go).
const (
	logHeader  = "Log file created at: "
	logVersion = "] Version: "
)

// maxLog is how much of a log is read, from its end. csi-proxy's log grows
// without bound, and its version is in it once for each start.
const maxLog = 512 << 20

// errNotYet says that the running program's version isn't in its log so far.
var errNotYet = errors.New("its log has no version since the program was started: it is written some seconds later, or the log was begun anew since")

// versionInLog returns the version that was written after the last start.
func versionInLog(path string) (string, error) {
	f, err := os.Open(path)
	if err != nil {
		return "", fmt.Errorf("open its log: %w", err)
	}
	defer f.Close() // only read
	info, err := f.Stat()
	if err != nil {
		return "", err
	}
	from := max(0, info.Size()-maxLog)
	return scanLog(io.NewSectionReader(f, from, info.Size()-from))
}

// scanLog keeps the last version, and forgets it at each header.
func scanLog(r io.Reader) (string, error) {
	version, err := "", errNotYet
	buf := make([]byte, 1<<20)
	kept := 0
	for {
		n, rerr := r.Read(buf[kept:])
		data := buf[:kept+n]
		end := bytes.LastIndexByte(data, '\n') + 1
		if end == 0 && len(data) == len(buf) { // a line of a MiB isn't one of these
			end = len(data)
		}
		if rerr == io.EOF {
			end = len(data)
		}
		if v, e, seen := lastMark(data[:end]); seen {
			version, err = v, e
		}
		kept = copy(buf, data[end:])
		if rerr == io.EOF {
			return version, err
		}
		if rerr != nil {
			return "", fmt.Errorf("read its log: %w", rerr)
		}
	}
}

// lastMark looks for the last header or version in whole lines.
func lastMark(data []byte) (version string, err error, seen bool) { //nolint:revive // the error is what was found
	header, mark := bytes.LastIndex(data, []byte(logHeader)), bytes.LastIndex(data, []byte(logVersion))
	switch {
	case header < 0 && mark < 0:
		return "", nil, false
	case header > mark:
		return "", errNotYet, true
	}
	line, _, whole := bytes.Cut(data[mark+len(logVersion):], []byte("\n"))
	if !whole {
		return "", errNotYet, true
	}
	return strings.TrimSpace(string(line)), nil, true
}
