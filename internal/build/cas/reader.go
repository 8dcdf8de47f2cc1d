package cas

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"hash"
	"hash/crc32"
	"io"
	"io/fs"
	"os"
	"path/filepath"
)

// bufferSize saves system calls when a compressor writes in small pieces.
const bufferSize = 256 << 10

// Open returns the content of blob d, or an error that wraps fs.ErrNotExist.
// Read returns an error that wraps ErrDamaged in place of io.EOF when the
// content isn't what was stored, and so does Close once all was read: use
// nothing before the end was reached. It compares the blob's CRC-32C where
// the store has one, and its digest otherwise.
func (s *Store) Open(d Digest) (io.ReadCloser, error) {
	r, err := s.open(d)
	if err != nil {
		return nil, err
	}
	if crc, known := s.readCRC(r.file.Name()); known {
		r.sum, r.want = crc32.New(castagnoli), binary.BigEndian.AppendUint32(nil, crc)
	} else {
		r.noting = true
	}
	return r, nil
}

func (s *Store) open(d Digest) (*reader, error) {
	want, err := parse(d)
	if err != nil {
		return nil, err
	}
	f, err := os.Open(s.Path(d))
	if err != nil {
		return nil, fmt.Errorf("open blob %s: %w", d, err)
	}
	info, err := f.Stat()
	if err != nil {
		f.Close()
		return nil, fmt.Errorf("read blob %s: %w", d, err)
	}
	sum, _ := hex.DecodeString(want) // parsed
	return &reader{store: s, digest: d, file: f, info: info, sum: sha256.New(), want: sum}, nil
}

// Verify hashes the blob d and returns an error that wraps ErrDamaged if it
// hasn't its digest, or fs.ErrNotExist if it isn't there.
func (s *Store) Verify(d Digest) error {
	r, err := s.open(d)
	if err != nil {
		return err
	}
	defer r.Close() //nolint:errcheck // reading to the end said the same
	_, err = io.CopyBuffer(io.Discard, r, make([]byte, bufferSize))
	return err
}

type reader struct {
	store  *Store
	digest Digest
	file   *os.File
	info   fs.FileInfo // at the start
	sum    hash.Hash   // sha256 or CRC-32C
	want   []byte      // what sum must come to
	noting bool        // the store has no CRC of this blob yet
	crc    uint32
	count  int64
	end    error // what the end of the file turned out to be
}

func (r *reader) Read(p []byte) (int, error) {
	if r.end != nil {
		return 0, r.end
	}
	n, err := r.file.Read(p)
	r.sum.Write(p[:n])
	if r.noting {
		r.crc = crc32.Update(r.crc, castagnoli, p[:n])
	}
	r.count += int64(n)
	if err == io.EOF {
		err = r.check()
	}
	return n, err
}

// Close verifies too when the caller took exactly as many bytes as there were
// and never asked for the end.
func (r *reader) Close() error {
	if r.end == nil && r.count >= r.info.Size() {
		_ = r.check() // it sets end
	}
	err := r.file.Close()
	if r.end != nil && r.end != io.EOF {
		return r.end
	}
	return err
}

func (r *reader) check() error {
	r.end = io.EOF
	if bytes.Equal(r.sum.Sum(nil), r.want) {
		if r.noting {
			r.store.noteCRC(r.file.Name(), r.crc)
		}
		return r.end
	}
	if path := r.file.Name(); len(r.want) == crc32.Size && r.intact() {
		r.store.dropCRC(path)
	} else {
		r.end = damagedBlob(r.digest, path)
		r.store.drop(path, r.info)
	}
	return r.end
}

func (r *reader) intact() bool {
	sum := sha256.New()
	_, err := io.CopyBuffer(sum, io.NewSectionReader(r.file, 0, r.info.Size()), make([]byte, bufferSize))
	return err == nil && digestPrefix+hex.EncodeToString(sum.Sum(nil)) == r.digest
}

// drop removes a damaged file, unless a right one has taken its place since.
// Failing is no matter: the next reader finds the damage again.
func (s *Store) drop(path string, damaged fs.FileInfo) {
	unlock, err := s.exclude()
	if err != nil {
		return
	}
	defer unlock()
	if now, err := os.Stat(path); err == nil && os.SameFile(now, damaged) {
		_ = os.Remove(path)
		s.dropCRC(path)
	}
}

// A blob's CRC-32C stands in a file of its own, so that reading the blob back
// needn't cost a sha256: the disk's damage is what a store guards
// against. Anyone who can change a blob on purpose can change the records that
// name it too, and no sum in the same folder stops him.
//
// The file is a hint. Without it, or where it can't be read, a blob is hashed;
// where the two disagree, the digest decides.
const crcName = "crc"

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

func (s *Store) crcPath(blob string) string {
	return filepath.Join(s.dir, crcName, filepath.Base(blob))
}

// noteCRC writes the hint. It isn't synced and failing is no matter: half a
// file doesn't parse.
func (s *Store) noteCRC(blob string, sum uint32) {
	if _, known := s.readCRC(blob); !known {
		s.dropCRC(blob)
		_ = os.WriteFile(s.crcPath(blob), formatCRC(sum), 0o444)
	}
}

func (s *Store) readCRC(blob string) (sum uint32, known bool) {
	text, err := os.ReadFile(s.crcPath(blob))
	if err != nil {
		return 0, false
	}
	n, err := fmt.Sscanf(string(text), "crc32c %08x\n", &sum)
	return sum, err == nil && n == 1 && string(text) == string(formatCRC(sum))
}

func (s *Store) dropCRC(blob string) { _ = os.Remove(s.crcPath(blob)) }

func formatCRC(sum uint32) []byte { return fmt.Appendf(nil, "crc32c %08x\n", sum) }
