package wine

import (
	"bytes"
	"encoding/binary"
)

// Go programs since 1.21 ask bcryptprimitives.dll for random bytes at start,
// and Wine 8 hasn't got it (Wine 9 has). The shim is that DLL with no code in
// it: one export, ProcessPrng, forwarded to the function of the same shape that
// Wine has, advapi32's SystemFunction036 (RtlGenRandom).
//
// Its form is the PE32+ of https://learn.microsoft.com/windows/win32/debug/pe-format:
// headers in the first 512 bytes, the export directory in the next 512.
const (
	shimSection   = 0x1000 // where the section is in memory
	shimFileAlign = 0x200
)

// Shim returns the DLL's bytes, the same every time.
func Shim() []byte {
	exports := shimExports()
	out := append(shimHeaders(len(exports)), exports...)
	return append(out, make([]byte, 2*shimFileAlign-len(out))...)
}

// shimExports is the export directory, its three tables of one row, and the
// strings. A function's address inside the directory makes it a forwarder.
func shimExports() []byte {
	const tables = shimSection + 40
	names := []byte("bcryptprimitives.dll\x00ProcessPrng\x00ADVAPI32.SystemFunction036\x00")
	dll := uint32(tables + 4 + 4 + 4)
	function := dll + uint32(bytes.IndexByte(names, 0)) + 1
	forward := function + uint32(len("ProcessPrng")) + 1
	return append(pack(
		uint32(0), uint32(0), uint16(0), uint16(0), dll, uint32(1), uint32(1), uint32(1), // flags, time, version, name, base, counts
		uint32(tables), uint32(tables+4), uint32(tables+8),
		forward, function, uint16(0), uint16(0),
	), names...)
}

func shimHeaders(exports int) []byte {
	out := append([]byte("MZ"), make([]byte, 58)...)
	out = append(out, pack(
		uint32(0x40), []byte("PE\x00\x00"),
		uint16(0x8664), uint16(1), uint32(0), uint32(0), uint32(0), uint16(240), uint16(0x2022), // amd64, one section, an executable DLL
		uint16(0x20b), uint16(14), uint32(0), uint32(shimFileAlign), uint32(0), uint32(0), uint32(shimSection), // PE32+
		uint64(0x180000000), uint32(0x1000), uint32(shimFileAlign), // base and alignments
		uint16(6), uint16(0), uint16(0), uint16(0), uint16(6), uint16(0), uint32(0), // Windows 6.0
		uint32(2*shimSection), uint32(shimFileAlign), uint32(0), uint16(3), uint16(0x160),
		uint64(0x100000), uint64(0x1000), uint64(0x100000), uint64(0x1000), uint32(0), uint32(16),
		uint32(shimSection), uint32(exports), make([]byte, 15*8), // the first of 16 directories
		[]byte(".rdata\x00\x00"), uint32(exports), uint32(shimSection), uint32(shimFileAlign), uint32(shimFileAlign),
		uint32(0), uint32(0), uint16(0), uint16(0), uint32(0x40000040),
	)...)
	return append(out, make([]byte, shimFileAlign-len(out))...)
}

func pack(values ...any) []byte {
	var b bytes.Buffer
	for _, v := range values {
		_ = binary.Write(&b, binary.LittleEndian, v) // of a Buffer never fails
	}
	return b.Bytes()
}
