package compile

import (
	"errors"
	"fmt"
	"testing"

	"github.com/winbake/winbake/internal/gotool"
)

func TestIsBroken(t *testing.T) {
	const zip = `main.go:29:2: k8s.io/component-base@v0.32.0: Get "https://proxy.golang.org/k8s.io/component-base/@v/v0.32.0.zip": `
	for message, want := range map[string]bool{
		zip + "net/http: TLS handshake timeout":                                true,
		zip + "read tcp 10.0.0.1:1->10.0.0.2:443: connection reset by peer":    true,
		zip + "unexpected EOF":                                                 true,
		"verifying k8s.io/component-base@v0.32.0: checksum mismatch":           false,
		zip + "reading https://proxy.golang.org/x.zip: 403 Forbidden":          false,
		"main.go:3:2: package example.com/absent is not in std (/usr/go/src/)": false,
	} {
		if got := isBroken(fmt.Errorf("list: %w", &gotool.Failure{Message: message})); got != want {
			t.Errorf("%v of %s", got, message)
		}
	}
	if isBroken(nil) || isBroken(errors.New("TLS handshake timeout")) {
		t.Error("it isn't the go command's failure")
	}
}
