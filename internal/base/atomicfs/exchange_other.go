//go:build !linux

package atomicfs

import "errors"

func exchange(_, _ string) error { return errors.ErrUnsupported }
