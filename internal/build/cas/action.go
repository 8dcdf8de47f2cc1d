package cas

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// PutAction keeps v, which must encode to JSON, under the action key, in place
// of what was there. refs are the blobs that v speaks of: they stay as long as
// the record does, and the record counts for nothing without them.
func (s *Store) PutAction(key Digest, v any, refs ...Digest) error {
	path, err := s.actionPath(key)
	if err != nil {
		return err
	}
	for _, d := range refs {
		if _, err := parse(d); err != nil {
			return fmt.Errorf("record action %s: %w", key, err)
		}
	}
	value, err := json.Marshal(v)
	if err != nil {
		return fmt.Errorf("record action %s: %w", key, err)
	}
	data, err := (&record{Key: key, Refs: refs, Value: value}).encode()
	if err != nil {
		return fmt.Errorf("record action %s: %w", key, err)
	}
	f, err := s.createTemp("action-*")
	if err != nil {
		return err
	}
	defer s.discard(f) //nolint:errcheck // what stays behind, GC takes
	if _, err := f.Write(data); err != nil {
		return s.explain("record an action", err)
	}
	return s.commit(f, path)
}

// GetAction decodes into v, a pointer, what PutAction kept under key. It
// returns false when there is no record or one of its blobs is gone; false and
// an error that wraps ErrDamaged when there was a record that can't be trusted
// or doesn't fit v, which is then removed.
func (s *Store) GetAction(key Digest, v any) (bool, error) {
	path, err := s.actionPath(key)
	if err != nil {
		return false, err
	}
	r, info, err := s.useAction(key, path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return false, nil
	case err == nil:
		if err = json.Unmarshal(r.Value, v); err == nil {
			return true, nil
		}
		err = fmt.Errorf("%w: %w", ErrDamaged, err)
	}
	if errors.Is(err, ErrDamaged) {
		s.drop(path, info)
	}
	return false, fmt.Errorf("read the record of action %s: %w", key, err)
}

// useAction reads a record whose blobs are all there, and notes that it was
// used.
func (s *Store) useAction(key Digest, path string) (*record, fs.FileInfo, error) {
	unlock, err := s.share()
	if err != nil {
		return nil, nil, err
	}
	defer unlock()
	r, info, err := readRecord(key, path)
	if err != nil {
		return nil, info, err
	}
	for _, d := range r.Refs {
		if _, err := os.Stat(s.Path(d)); err != nil {
			return nil, info, err
		}
	}
	touch(path, info)
	return r, info, nil
}

func (s *Store) actionPath(key Digest) (string, error) {
	sum, err := parse(key)
	if err != nil {
		return "", err
	}
	return filepath.Join(s.actions(), sum[:2], sum), nil
}

func (r *record) encode() ([]byte, error) {
	body, err := json.Marshal(r)
	if err != nil {
		return nil, err
	}
	body = append(body, '\n')
	return fmt.Appendf(nil, "%s\n%s", sumOf(body), body), nil
}
