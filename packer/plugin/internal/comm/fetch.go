package comm

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"io"
	"path"
	"strings"
)

// fetched has the machine fetch a file from Packer's HTTP server: WinRM takes
// minutes for a megabyte. A machine that can't is sent everything.
//
// Nothing protects what comes that way. Uploads are checked by their sums
// before they take their place, and a program is checked here, before it runs.
func (g *Guest) fetched(ctx context.Context, name string, content io.ReaderAt, size int64) (bool, error) {
	server := *g.server.Load()
	program := path.Ext(name) == ".exe"
	if server == "" || !program && path.Ext(name) != ".zst" {
		return false, nil
	}
	part := windows(name + partSuffix)
	code, err := g.Run(ctx, "cmd /c curl.exe -fsS --connect-timeout 10 -o "+part+" "+server+"/"+path.Base(name), nil, nil)
	if err != nil {
		return false, err
	}
	if code != 0 {
		var none string
		g.server.Store(&none)
		return false, nil
	}
	if program {
		same, err := g.hasSum(ctx, part, io.NewSectionReader(content, 0, size))
		if err != nil || !same {
			return false, err
		}
	}
	return true, g.must(ctx, name, "move /y", part, windows(name))
}

// hasSum compares a file of the machine, by Windows' own word, with content.
func (g *Guest) hasSum(ctx context.Context, file string, content io.Reader) (bool, error) {
	h := sha256.New()
	if _, err := io.Copy(h, content); err != nil {
		return false, err
	}
	var out bytes.Buffer
	code, err := g.Run(ctx, "cmd /c certutil.exe -hashfile "+file+" SHA256", &out, nil)
	text := strings.ReplaceAll(strings.ToLower(out.String()), " ", "")
	return code == 0 && strings.Contains(text, hex.EncodeToString(h.Sum(nil))), err
}
