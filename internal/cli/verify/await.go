package verify

import "context"

// await runs work that may stand still where a context doesn't reach: opening a
// pipe that nobody writes to, reading a terminal. Once ctx is done its answer
// isn't waited for, and it ends with the process.
func await[T any](ctx context.Context, work func() (T, error)) (T, error) {
	type answer struct {
		value T
		err   error
	}
	answers := make(chan answer, 1)
	go func() {
		value, err := work()
		answers <- answer{value, err}
	}()
	select {
	case a := <-answers:
		return a.value, a.err
	case <-ctx.Done():
		var none T
		return none, context.Cause(ctx)
	}
}
