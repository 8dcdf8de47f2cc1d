// Command fetch stands on a Wine node where two programs of Windows do that Wine
// doesn't have: curl.exe, which gets a file over HTTP, and certutil.exe, which
// hashes one. Under either name it takes what the plugin gives them.
package main

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
)

func main() {
	work := curl
	if strings.Contains(filepath.Base(os.Args[0]), "certutil") {
		work = certutil
	}
	if err := work(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(22) // curl's code for what the server doesn't have
	}
}

// curl is curl.exe ... -o FILE URL.
func curl(args []string) (err error) {
	if len(args) < 3 || args[len(args)-3] != "-o" {
		return fmt.Errorf("curl's double wasn't made for %q", args)
	}
	r, err := http.Get(args[len(args)-1]) //nolint:gosec // it is what it's called for
	if err != nil {
		return err
	}
	defer r.Body.Close() //nolint:errcheck // it was read to its end
	if r.StatusCode != http.StatusOK {
		return errors.New(r.Status)
	}
	f, err := os.Create(args[len(args)-2])
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	_, err = io.Copy(f, r.Body)
	return err
}

// certutil is certutil.exe -hashfile FILE SHA256.
func certutil(args []string) error {
	if len(args) != 3 || args[0] != "-hashfile" || args[2] != "SHA256" {
		return fmt.Errorf("certutil's double wasn't made for %q", args)
	}
	data, err := os.ReadFile(args[1])
	if err != nil {
		return err
	}
	fmt.Printf("SHA256 hash of %s:\r\n%x\r\nCertUtil: -hashfile command completed successfully.\r\n", args[1], sha256.Sum256(data))
	return nil
}
