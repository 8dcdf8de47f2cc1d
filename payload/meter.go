package payload

import "sync"

// Progress is told how much of some work is done, in bytes. Calls come one at
// a time, but from any goroutine; done never goes beyond total.
type Progress func(done, total int64)

// meter adds up the progress of several goroutines. A nil meter counts
// nothing.
type meter struct {
	mu          sync.Mutex
	done, total int64
	tell        Progress
}

func newMeter(tell Progress, total int64) *meter {
	if tell == nil {
		return nil
	}
	return &meter{tell: tell, total: total}
}

// add counts n more bytes; n is negative when work has to be done again.
func (m *meter) add(n int64) {
	if m == nil || n == 0 {
		return
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.done = min(m.done+n, m.total)
	m.tell(m.done, m.total)
}
