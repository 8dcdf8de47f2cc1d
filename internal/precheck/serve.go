package precheck

import (
	"context"
	"net"
	"time"
)

// Serve evaluates and answers on l until ctx is done, which is no error. It
// closes l. One evaluation runs at a time.
func Serve(ctx context.Context, l net.Listener, o Options) error {
	o.complete()
	s := newState(o, time.Now)
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	work := make(chan struct{})
	go func() {
		defer close(work)
		newLoop(o, s).run(ctx)
	}()
	err := s.serve(ctx, l)
	cancel()
	select {
	case <-work:
	case <-time.After(patience): // it stands still where a context doesn't reach
	}
	return err
}
