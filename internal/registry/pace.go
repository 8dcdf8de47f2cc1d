package registry

import (
	"sync"
	"time"
)

// leastRate is how many bytes a second have to come or go for an exchange to
// go on. A link of that speed takes a day for a payload.
const leastRate = 1 << 10

// pace ends an exchange whose other side is silent, or slower than leastRate,
// for longer than a limit. Only time that is spent waiting for it counts: a
// layer that is read slowly here is no fault of the registry's.
type pace struct {
	limit time.Duration
	end   func()

	mu    sync.Mutex
	left  time.Duration // used up by waiting, filled up by bytes
	since time.Time     // of the wait
	timer *time.Timer   // of the wait; nil while there is none
	over  bool
}

func newPace(limit time.Duration, end func()) *pace {
	return &pace{limit: limit, end: end, left: limit}
}

func (p *pace) wait() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.over {
		p.since, p.timer = time.Now(), time.AfterFunc(p.left, p.end)
	}
}

// moved stops the clock: n bytes came or went.
func (p *pace) moved(n int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.timer == nil {
		return
	}
	p.timer.Stop()
	p.timer = nil
	p.left = min(p.left-time.Since(p.since)+time.Duration(n)*time.Second/leastRate, p.limit)
}

// refill gives the other side the whole limit again.
func (p *pace) refill() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.left = p.limit
}

// stop ends the clock for good.
func (p *pace) stop() {
	p.moved(0)
	p.mu.Lock()
	defer p.mu.Unlock()
	p.over = true
}
