package gitsrc

import (
	"crypto/sha1" // git's own; it looked for collisions when it fetched
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"hash"
	"os"
	"path/filepath"
)

// hasher is the one of git's hash functions that made id.
func hasher(id string) hash.Hash {
	if len(id) == hex.EncodedLen(sha256.Size) {
		return sha256.New()
	}
	return sha1.New()
}

// named tells whether an object has the sum that is its name.
func named(kind, id string, sum hash.Hash) error {
	if got := hex.EncodeToString(sum.Sum(nil)); got != id {
		return &otherContent{fmt.Sprintf("%s %s hashes to %s", kind, id, got)}
	}
	return nil
}

// otherContent is an object that isn't what its name says.
type otherContent struct{ text string }

func (e *otherContent) Error() string { return e.text }

// asCommitted are attributes that leave every byte alone. Where a tree says
// "* text", git could not even say afterwards whether a file with CRLF is the
// commit's: it would look for one with LF. A filter is the person's, who may
// have none.
const asCommitted = "* -text -ident -filter !working-tree-encoding\n"

// plainTemplate makes a folder that git repositories are begun from. Its
// attributes stand over those of the tree (gitattributes(5)).
func plainTemplate() (string, error) {
	dir, err := os.MkdirTemp("", "winbake-template-")
	if err != nil {
		return "", fmt.Errorf("make a folder for git's template: %w", err)
	}
	info := filepath.Join(dir, "info")
	err = os.Mkdir(info, 0o755)
	if err == nil {
		err = os.WriteFile(filepath.Join(info, "attributes"), []byte(asCommitted), 0o644)
	}
	if err != nil {
		os.RemoveAll(dir)
		return "", fmt.Errorf("write git's template: %w", err)
	}
	return dir, nil
}
