package cas

import (
	"fmt"
	"hash/crc32"
	"os"
	"path/filepath"
)

// A blob's CRC-32C stands in a file of its own, so that reading the blob back
// needn't cost a sha256: the disk's damage is what a store guards
// against. Whoever can change a blob on purpose can change the records that
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
