package cas

import (
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"reflect"
	"testing"
	"time"
)

func TestAction(t *testing.T) {
	type value struct {
		Name string `json:"name"`
		N    []int  `json:"n"`
	}
	s := newStore(t)
	key := sumOf([]byte("key"))
	var got value
	if ok, err := s.GetAction(key, &got); ok || err != nil {
		t.Errorf("before: %v, %v", ok, err)
	}
	for _, want := range []value{{"one", []int{1, 2}}, {"<two>", nil}} {
		if err := s.PutAction(key, want); err != nil {
			t.Fatal(err)
		}
		got = value{}
		if ok, err := s.GetAction(key, &got); !ok || err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("got %+v, %v, %v; want %+v", got, ok, err, want)
		}
	}
	noTemp(t, s)
}

func TestActionThatDoesntEncode(t *testing.T) {
	s := newStore(t)
	if err := s.PutAction(helloDigest, func() {}); err == nil {
		t.Error("a func was recorded")
	}
	noTemp(t, s)
}

func TestActionWithoutItsBlob(t *testing.T) {
	s := newStore(t)
	d := put(t, s, "hello")
	putAction(t, s, "a", d)
	overwrite(t, s.Path(d), damages["flip"])
	_ = s.Verify(d)
	if has(t, s, "a") {
		t.Error("its blob is gone, and it counts")
	}
	put(t, s, "hello")
	if !has(t, s, "a") {
		t.Error("its blob is back, and it doesn't count")
	}
}

func TestDamagedAction(t *testing.T) {
	for how, damage := range damages {
		t.Run(how, func(t *testing.T) {
			s := newStore(t)
			key := putAction(t, s, "a")
			path, _ := s.actionPath(key)
			overwrite(t, path, damage)
			wantDamaged(t, s, key, new(string))
		})
	}
	t.Run("another's record", func(t *testing.T) {
		s := newStore(t)
		from, _ := s.actionPath(putAction(t, s, "a"))
		key := putAction(t, s, "b")
		to, _ := s.actionPath(key)
		if err := os.Rename(from, to); err != nil {
			t.Fatal(err)
		}
		wantDamaged(t, s, key, new(string))
	})
	t.Run("of another type", func(t *testing.T) {
		s := newStore(t)
		wantDamaged(t, s, putAction(t, s, "a"), new(int))
	})
}

func wantDamaged(t *testing.T, s *Store, key Digest, v any) {
	t.Helper()
	if ok, err := s.GetAction(key, v); ok || !errors.Is(err, ErrDamaged) {
		t.Errorf("got %v, %v", ok, err)
	}
	path, _ := s.actionPath(key)
	if _, err := os.Stat(path); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("it is still there: %v", err)
	}
	if ok, err := s.GetAction(key, v); ok || err != nil {
		t.Errorf("the next time: %v, %v", ok, err)
	}
}

// Each byte of a record counts: the one that isn't noticed would be built
// upon.
func TestEveryByteOfARecordCounts(t *testing.T) {
	data, err := (&record{Key: helloDigest, Refs: []Digest{helloDigest}, Value: json.RawMessage(`{"a":1}`)}).encode()
	if err != nil {
		t.Fatal(err)
	}
	for i := range data {
		for bit := range 8 {
			data[i] ^= 1 << bit
			if _, err := parseRecord(helloDigest, data); !errors.Is(err, ErrDamaged) {
				t.Errorf("byte %d, bit %d: %v", i, bit, err)
			}
			data[i] ^= 1 << bit
		}
		if _, err := parseRecord(helloDigest, data[:i]); !errors.Is(err, ErrDamaged) {
			t.Errorf("cut to %d bytes: %v", i, err)
		}
	}
}

func TestGetActionTouchesOnceAnHour(t *testing.T) {
	s := newStore(t)
	path, _ := s.actionPath(putAction(t, s, "a"))
	for _, tt := range []struct {
		unused, want time.Duration
	}{{50 * time.Minute, 50 * time.Minute}, {61 * time.Minute, 0}} {
		age(t, path, tt.unused)
		has(t, s, "a")
		info, err := os.Stat(path)
		if err != nil {
			t.Fatal(err)
		}
		if got := time.Since(info.ModTime()); (got - tt.want).Abs() > time.Minute {
			t.Errorf("unused for %v, then read: unused for %v", tt.unused, got)
		}
	}
}
