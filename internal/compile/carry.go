package compile

import (
	"crypto/sha256"
	"encoding/hex"

	"github.com/winbake/winbake/internal/component"
	"github.com/winbake/winbake/internal/source"
)

// DigestOf returns "sha256:<hex>" of a text.
func DigestOf(s string) string {
	sum := sha256.Sum256([]byte(s))
	return "sha256:" + hex.EncodeToString(sum[:])
}

// carryKey is where it is kept which file was carried.
func carryKey(kind component.File, p source.Pin) string {
	return DigestOf("carry\x00" + kind.Key(p))
}
