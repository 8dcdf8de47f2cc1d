package cas

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strings"
)

// Digest is "sha256:" and 64 lower-case hexadecimal digits.
type Digest = string

const digestPrefix = "sha256:"

// parse returns the digits of d. Nothing else may become part of a path.
func parse(d Digest) (string, error) {
	sum, ok := strings.CutPrefix(d, digestPrefix)
	if !ok || !isSum(sum) {
		return "", fmt.Errorf("not a sha256 digest: %q", d)
	}
	return sum, nil
}

func isSum(s string) bool {
	if len(s) != hex.EncodedLen(sha256.Size) {
		return false
	}
	return strings.Trim(s, "0123456789abcdef") == ""
}
