package verifyexe

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"
)

func TestRepeat(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, stop := context.WithCancel(t.Context())
		began, count := time.Now(), 0
		err := repeat(ctx, time.Minute, func() {
			if count++; count == 3 {
				stop()
			}
		})
		if took := time.Since(began); !errors.Is(err, context.Canceled) || count != 3 || took != 2*time.Minute {
			t.Errorf("%d times in %s: %v", count, took, err)
		}
	})
}

func TestNamed(t *testing.T) {
	if name, err := named([]string{`D:\payload`}, false); name != `D:\payload` || err != nil {
		t.Errorf("%q, %v", name, err)
	}
	if _, err := named([]string{`D:\payload`}, true); err == nil {
		t.Error("a payload that is named and one that is beside are two")
	}
}
