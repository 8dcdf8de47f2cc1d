package winenode

import (
	"strings"
	"testing"
)

func TestWithoutNoise(t *testing.T) {
	const text = "no\r\nwine client error:164: sendmsg: Socket operation on non-socket\nwine\nwine clien: a wine client error: b\nwine client"
	const want = "no\r\nwine\nwine clien: a wine client error: b\nwine client"
	for _, size := range []int{1, 2, 3, 7, len(text)} {
		var got strings.Builder
		w := &withoutNoise{to: &got}
		for rest := text; rest != ""; {
			n := min(size, len(rest))
			if k, err := w.Write([]byte(rest[:n])); k != n || err != nil {
				t.Fatalf("%d, %v", k, err)
			}
			rest = rest[n:]
		}
		w.flush()
		if got.String() != want {
			t.Errorf("%d bytes at once: %q, want %q", size, got.String(), want)
		}
	}
}
