package cas

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
)

// record is an action's file: a line with the sha256 of all that follows, and
// JSON. The sum stands outside the JSON so that every single byte counts.
type record struct {
	// Key is the action. A file under another action's name is refused.
	Key   Digest          `json:"key"`
	Refs  []Digest        `json:"refs,omitempty"`
	Value json.RawMessage `json:"value"`
}

func (r *record) encode() ([]byte, error) {
	body, err := json.Marshal(r)
	if err != nil {
		return nil, err
	}
	body = append(body, '\n')
	return fmt.Appendf(nil, "%s\n%s", sumOf(body), body), nil
}

func parseRecord(key Digest, data []byte) (*record, error) {
	sum, body, ok := bytes.Cut(data, []byte("\n"))
	if !ok || string(sum) != sumOf(body) {
		return nil, fmt.Errorf("%w: its sum is not that of its bytes", ErrDamaged)
	}
	r := new(record)
	if err := json.Unmarshal(body, r); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrDamaged, err)
	}
	if r.Key != key {
		return nil, fmt.Errorf("%w: it is the record of %q", ErrDamaged, r.Key)
	}
	for _, d := range r.Refs {
		if _, err := parse(d); err != nil {
			return nil, fmt.Errorf("%w: %w", ErrDamaged, err)
		}
	}
	return r, nil
}

func sumOf(b []byte) Digest {
	sum := sha256.Sum256(b)
	return digestPrefix + hex.EncodeToString(sum[:])
}
