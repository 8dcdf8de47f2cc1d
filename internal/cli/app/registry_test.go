package app

import (
	"bytes"
	"testing"

	"github.com/winbake/winbake/internal/base/console"
	"github.com/winbake/winbake/internal/base/fault"
)

func TestRetrying(t *testing.T) {
	var out bytes.Buffer
	a := &App{Console: console.New(console.Options{Stderr: &out, Progress: "plain", LogFormat: "text"})}
	for range 3 {
		a.Retrying(&fault.Error{Where: "quay.io/a/b:c", What: "registry quay.io cut the connection", Fix: "run it again"})
	}
	a.Console.Close()
	if got := out.String(); bytes.Count(out.Bytes(), []byte("\n")) != 1 || !bytes.Contains(out.Bytes(), []byte("registry quay.io cut the connection; trying again")) || !bytes.Contains(out.Bytes(), []byte("quay.io/a/b:c")) || bytes.Contains(out.Bytes(), []byte("run it again")) {
		t.Errorf("%q", got)
	}
}
