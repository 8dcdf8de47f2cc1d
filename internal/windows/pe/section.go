package pe

import (
	"bytes"
	"cmp"
	"debug/pe"
	"fmt"
	"slices"
)

func (f *File) readSections() error {
	raw := make([]pe.SectionHeader32, f.coff.NumberOfSections)
	if err := f.r.decode(raw, f.sectionTable(), "section table"); err != nil {
		return err
	}
	for _, r := range raw {
		name, _, _ := bytes.Cut(r.Name[:], []byte{0})
		c := Section{pe.SectionHeader{
			Name: string(name), VirtualAddress: r.VirtualAddress, VirtualSize: r.VirtualSize,
			Offset: r.PointerToRawData, Size: r.SizeOfRawData, Characteristics: r.Characteristics,
		}}
		if c.Offset == 0 {
			c.Size = 0 // memory only, such as .bss
		}
		if err := c.check(f.r); err != nil {
			return err
		}
		f.Sections = append(f.Sections, c)
	}
	return nil
}

// check makes sure that the section lies within the file and the address space.
func (c *Section) check(s source) error {
	if !s.has(int64(c.Offset), int64(c.Size)) {
		return fmt.Errorf("%w: section %q takes %d bytes at %d, the file ends at %d", ErrDamaged, c.Name, c.Size, c.Offset, s.size)
	}
	if uint64(c.VirtualAddress)+c.memory() > 1<<32 {
		return fmt.Errorf("%w: section %q ends beyond 4 GiB", ErrDamaged, c.Name)
	}
	return nil
}

// memory returns how many bytes the section has once it is loaded.
func (c *Section) memory() uint64 { return uint64(max(c.VirtualSize, c.Size)) }

// readAt fills p from the section's memory at off. What isn't in the file is
// zero, as the loader makes it: a variable in .bss.
func (c *Section) readAt(s source, p []byte, off uint64, what string) error {
	if mem := c.memory(); off > mem || uint64(len(p)) > mem-off {
		return fmt.Errorf("%w: %s lies outside of section %q", ErrDamaged, what, c.Name)
	}
	clear(p)
	if off >= uint64(c.Size) {
		return nil
	}
	n := min(uint64(len(p)), uint64(c.Size)-off)
	return s.read(p[:n], int64(c.Offset)+int64(off), what)
}

// readVA fills p from the absolute address va.
func (f *File) readVA(p []byte, va uint64, what string) error {
	rva := va - f.ImageBase
	for i := range f.Sections {
		c := &f.Sections[i]
		if start := uint64(c.VirtualAddress); va >= f.ImageBase && rva >= start && rva-start < c.memory() {
			return c.readAt(f.r, p, rva-start, what)
		}
	}
	return fmt.Errorf("%w: %s at %#x lies in no section", ErrDamaged, what, va)
}

// span is the bytes [from, to) of the file.
type span struct{ from, to int64 }

// findOverlay counts the bytes that no part of the executable claims.
func (f *File) findOverlay() error {
	spans := []span{{0, f.headersEnd()}}
	for _, c := range f.Sections {
		spans = append(spans, span{int64(c.Offset), int64(c.Offset) + int64(c.Size)})
	}
	if at := int64(f.coff.PointerToSymbolTable); at != 0 {
		off, size, err := f.stringTable()
		if err != nil {
			return err
		}
		spans = append(spans, span{at, off + size})
	}
	if f.Signed {
		off, size := int64(f.certificates.VirtualAddress), int64(f.certificates.Size)
		if !f.r.has(off, size) {
			return fmt.Errorf("%w: certificate table of %d bytes at %d, the file ends at %d", ErrDamaged, size, off, f.r.size)
		}
		spans = append(spans, span{off - padding(spans, off), off + size})
	}
	f.Overlay = f.r.size - covered(spans)
	return nil
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
func (f *File) headersEnd() int64 {
	end := f.sectionTable() + sectionSize*int64(len(f.Sections))
	first := f.r.size
	for _, c := range f.Sections {
		if c.Size != 0 {
			first = min(first, int64(c.Offset))
		}
	}
	return max(end, min(int64(f.headersSize), first))
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
		if s.to > end {
			sum += s.to - max(s.from, end)
			end = s.to
		}
	}
	return sum
}
