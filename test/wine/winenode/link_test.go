package winenode

import (
	"bytes"
	"io"
	"net"
	"testing"
	"testing/synctest"
	"time"
)

// In a bubble of its own time the link's speed is exact: a megabyte at 8 Mbit/s
// takes a second and a half round trip, and comes whole.
func TestLinkTakesItsTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		client, far := net.Pipe()
		near := Link{BitsPerSecond: 8_000_000, RoundTrip: 20 * time.Millisecond}.through(far)
		sent := bytes.Repeat([]byte("0123456789"), 100_000)
		began := time.Now()
		go func() {
			_, _ = client.Write(sent)
			_ = client.Close()
		}()
		got, err := io.ReadAll(near)
		if err != nil && err != io.EOF || !bytes.Equal(got, sent) {
			t.Errorf("%d bytes arrived of %d, %v", len(got), len(sent), err)
		}
		if took := time.Since(began); took != time.Second+10*time.Millisecond {
			t.Errorf("it took %s", took)
		}
		_ = near.Close()
	})
}

func TestNodeBehindALink(t *testing.T) {
	t.Parallel()
	n := Start(t, Options{Link: Link{BitsPerSecond: 1_000_000_000, RoundTrip: 2 * time.Millisecond}})
	if r := run(t, dial(t, n), "", "echo hello"); r.stdout != "hello\r\n" {
		t.Errorf("%+v", r)
	}
	if err := send(openSFTP(t, n), `C:\a.bin`, megabyte); err != nil || sizeOf(t, n, `C:\a.bin`) != megabyte {
		t.Errorf("upload: %v", err)
	}
	n.CutAfter(100_000)
	if err := send(openSFTP(t, n), `C:\b.bin`, megabyte); err == nil {
		t.Error("a cut link brings everything")
	}
}
