package deploy

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"

	"github.com/winbake/winbake/internal/node"
	"github.com/winbake/winbake/internal/node/agent"
	"github.com/winbake/winbake/internal/node/guest"
)

// Check asks a node for its facts and leaves nothing there: verify.exe and the
// expectation are brought into a folder of their own, which is removed
// whatever happens, as long as the node can be reached; the next one's
// verify.exe removes what one left that was cut off.
func Check(ctx context.Context, g guest.Guest, exe []byte, e *node.Expectation, say func(string)) (*node.Facts, error) {
	n := &Node{Guest: g, Exe: exe, Say: say, dir: agent.CheckPrefix + random()}
	facts, err := n.Facts(ctx, e, false)
	return facts, errors.Join(err, n.Clean(ctx))
}

// random is a name's part that no other run has.
func random() string {
	var b [6]byte
	_, _ = rand.Read(b[:]) // never fails, see crypto/rand
	return hex.EncodeToString(b[:])
}
