package agent

import (
	"context"
	"os"
	"time"

	"github.com/winbake/winbake/internal/fault"
)

// lockTime is how long a change waits for another one: as long as the agent
// of a session that was cut may take to find out.
const lockTime = 60 * time.Second

// lock keeps two changes of one node apart. The lock ends with the process
// that holds it, however that ends.
func lock(ctx context.Context, path string) (unlock func(), err error) {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, cantWrite(path, err)
	}
	ok, err := wait(ctx, lockTime, func() (bool, error) { return tryLock(f) })
	if err == nil && !ok {
		err = &fault.Error{Where: path, What: "another change of this node is under way", Fix: "wait until it has ended, then run this again"}
	}
	if err != nil {
		_ = f.Close()
		return nil, err
	}
	return func() { _ = f.Close() }, nil
}
