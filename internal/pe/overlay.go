package pe

import (
	"cmp"
	"debug/pe"
	"fmt"
	"slices"
)

// span is the bytes [from, to) of the file.
type span struct{ from, to int64 }

// overlay counts the bytes that no part of the executable claims.
func (h *header) overlay(f *File) (int64, error) {
	spans := []span{{0, h.headersEnd(f)}}
	for _, c := range f.Sections {
		spans = append(spans, span{int64(c.Offset), int64(c.Offset) + int64(c.Size)})
	}
	if at := int64(h.coff.PointerToSymbolTable); at != 0 {
		off, size, err := f.stringTable()
		if err != nil {
			return 0, err
		}
		spans = append(spans, span{at, off + size})
	}
	if off, size := h.certificates(); size != 0 {
		if !f.r.has(off, size) {
			return 0, fmt.Errorf("%w: certificate table of %d bytes at %d, the file ends at %d", ErrDamaged, size, off, f.r.size)
		}
		spans = append(spans, span{off - padding(spans, off), off + size})
	}
	return f.r.size - covered(spans), nil
}

// padding returns how many bytes before off a signing tool put there to align
// its table to 8 bytes.
func padding(spans []span, off int64) int64 {
	var end int64
	for _, s := range spans {
		if s.to <= off {
			end = max(end, s.to)
		}
	}
	if gap := off - end; gap < 8 {
		return gap
	}
	return 0
}

// headersEnd returns where the headers end. SizeOfHeaders is believed only as
// far as the first section, or it could be used to hide what is appended.
func (h *header) headersEnd(f *File) int64 {
	end := h.sectionTable() + sectionSize*int64(len(f.Sections))
	first := f.r.size
	for _, c := range f.Sections {
		if c.Size != 0 {
			first = min(first, int64(c.Offset))
		}
	}
	return max(end, min(int64(h.opt.SizeOfHeaders), first))
}

// stringTable returns where the COFF string table is, its four length bytes
// included. A table that isn't there has size 0.
func (f *File) stringTable() (off, size int64, err error) {
	if f.coff.PointerToSymbolTable == 0 {
		return 0, 0, nil
	}
	off = int64(f.coff.PointerToSymbolTable) + int64(f.coff.NumberOfSymbols)*pe.COFFSymbolSize
	if off == f.r.size {
		return off, 0, nil
	}
	var n uint32
	if err := f.r.decode(&n, off, "string table"); err != nil {
		return 0, 0, err
	}
	size = max(int64(n), 4)
	if !f.r.has(off, size) {
		return 0, 0, fmt.Errorf("%w: string table of %d bytes at %d, the file ends at %d", ErrDamaged, size, off, f.r.size)
	}
	return off, size, nil
}

// covered returns how many bytes the spans cover together.
func covered(spans []span) int64 {
	slices.SortFunc(spans, func(a, b span) int { return cmp.Compare(a.from, b.from) })
	var sum, end int64
	for _, s := range spans {
		if s.to <= end {
			continue
		}
		sum += s.to - max(s.from, end)
		end = s.to
	}
	return sum
}
