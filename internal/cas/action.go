package cas

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/google/renameio/v2"
)

// action is how a record lies on disk: a line with the sum of the rest, so
// that a flipped or lost byte is noticed.
type action struct {
	Refs  []Digest        `json:"refs,omitempty"`
	Value json.RawMessage `json:"value"`
}

// PutAction keeps v, which encodes to JSON, under key. refs are the blobs
// that live as long as the record does.
func (s *Store) PutAction(key Digest, v any, refs ...Digest) error {
	value, err := json.Marshal(v)
	if err != nil {
		return fmt.Errorf("encode a cache record: %w", err)
	}
	body, err := json.Marshal(action{Refs: refs, Value: value})
	if err != nil {
		return fmt.Errorf("encode a cache record: %w", err)
	}
	path := s.place("actions", key)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return s.explain("store a cache record", err)
	}
	sum := sha256.Sum256(body)
	data := append([]byte(hex.EncodeToString(sum[:])+"\n"), body...)
	if err := renameio.WriteFile(path, data, 0o644, renameio.WithTempDir(filepath.Join(s.dir, "tmp"))); err != nil {
		return s.explain("store a cache record", err)
	}
	return nil
}

// GetAction decodes into v what PutAction kept; false when there is nothing.
// A damaged record is removed and ErrDamaged comes back.
func (s *Store) GetAction(key Digest, v any) (bool, error) {
	path := s.place("actions", key)
	data, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, s.explain("read a cache record", err)
	}
	a, err := parseAction(data)
	if err == nil {
		err = json.Unmarshal(a.Value, v)
	}
	if err != nil {
		if rmErr := os.Remove(path); rmErr != nil && !errors.Is(rmErr, fs.ErrNotExist) {
			return false, s.explain("remove a damaged cache record", rmErr)
		}
		return false, fmt.Errorf("%s: %w", path, ErrDamaged)
	}
	s.touch(path)
	return true, nil
}

// touch notes the use, for GC; once an hour is enough for "least recently".
func (s *Store) touch(path string) {
	if info, err := os.Stat(path); err == nil && time.Since(info.ModTime()) > time.Hour {
		now := time.Now()
		_ = os.Chtimes(path, now, now) // a read-only cache works, it only ages
	}
}

func parseAction(data []byte) (*action, error) {
	head, body, ok := bytes.Cut(data, []byte("\n"))
	sum := sha256.Sum256(body)
	if !ok || string(head) != hex.EncodeToString(sum[:]) {
		return nil, ErrDamaged
	}
	var a action
	if err := json.Unmarshal(body, &a); err != nil {
		return nil, fmt.Errorf("decode a cache record: %w", err)
	}
	return &a, nil
}
