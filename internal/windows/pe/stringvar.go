package pe

import (
	"debug/pe"
	"encoding/binary"
	"fmt"
	"strings"
)

// Var is the value of a string variable, or why it couldn't be told.
type Var struct {
	Value string
	Err   error
}

// StringVars returns the values that Go string variables ("main.version",
// "k8s.io/component-base/version.gitVersion") have when the program starts. Errors
// wrap ErrNoSymbols, ErrNoSymbol or ErrDamaged. A variable that exists and was never
// set is "".
func (f *File) StringVars(names ...string) map[string]Var {
	named := map[string][]*pe.Symbol{} // by the linker's spelling; nil for what isn't looked for
	for _, name := range names {
		named[escape(name)] = []*pe.Symbol{}
	}
	for _, s := range f.file.Symbols {
		if found := named[s.Name]; found != nil {
			named[s.Name] = append(found, s)
		}
	}
	vars := map[string]Var{}
	for _, name := range names {
		v, err := f.stringOf(named[escape(name)])
		if err != nil {
			err = fmt.Errorf("read variable %s: %w", name, err)
		}
		vars[name] = Var{v, err}
	}
	return vars
}

// stringOf follows a string variable's pointer. The linker writes it for the
// preferred load address.
func (f *File) stringOf(symbols []*pe.Symbol) (string, error) {
	switch {
	case len(f.file.Symbols) == 0:
		return "", ErrNoSymbols
	case len(symbols) == 0:
		return "", ErrNoSymbol
	case len(symbols) > 1:
		return "", fmt.Errorf("%w: the symbol is there %d times", ErrDamaged, len(symbols))
	}
	n := int(symbols[0].SectionNumber)
	if n < 1 || n > len(f.file.Sections) {
		return "", fmt.Errorf("%w: its symbol names section %d of %d", ErrDamaged, n, len(f.file.Sections))
	}
	section := f.file.Sections[n-1]
	if section.Characteristics&pe.IMAGE_SCN_MEM_EXECUTE != 0 {
		return "", fmt.Errorf("%w: it is code in section %q and no variable", ErrNoSymbol, section.Name)
	}
	header, err := loaded(section, uint64(symbols[0].Value), 16)
	if err != nil {
		return "", err
	}
	address, length := binary.LittleEndian.Uint64(header), binary.LittleEndian.Uint64(header[8:])
	if !f.PE32Plus {
		address, length = uint64(binary.LittleEndian.Uint32(header)), uint64(binary.LittleEndian.Uint32(header[4:]))
	}
	if length == 0 {
		return "", nil
	}
	for _, c := range f.file.Sections {
		if at := address - f.base - uint64(c.VirtualAddress); at < uint64(c.Size) && length <= uint64(c.Size) {
			text, err := loaded(c, at, length)
			return string(text), err
		}
	}
	return "", fmt.Errorf("%w: its text of %d bytes is in no section", ErrDamaged, length)
}

// loaded returns a part of a section as it is in memory. What isn't in the file is
// zero there: a variable in .bss.
func loaded(c *pe.Section, at, n uint64) ([]byte, error) {
	if memory := uint64(max(c.VirtualSize, c.Size)); at > memory || n > memory-at {
		return nil, fmt.Errorf("%w: it is outside of section %q", ErrDamaged, c.Name)
	}
	p := make([]byte, n)
	if c.Offset == 0 || at >= uint64(c.Size) {
		return p, nil
	}
	if _, err := c.ReadAt(p[:min(n, uint64(c.Size)-at)], int64(at)); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrDamaged, err)
	}
	return p, nil
}

// escape spells a variable as the linker does: in the last element of the
// import path dots, and anywhere percent signs, quotes and what isn't printable
// ASCII, become %xx. See PathToPrefix in
// https://github.com/golang/go/blob/go1.26.0/src/cmd/internal/objabi/path.go.
func escape(name string) string {
	dot := strings.LastIndexByte(name, '.')
	path := name[:max(dot, 0)]
	slash := strings.LastIndexByte(path, '/')
	var b strings.Builder
	for i, c := range []byte(path) {
		if c <= ' ' || c == '.' && i > slash || c == '%' || c == '"' || c >= 0x7f {
			fmt.Fprintf(&b, "%%%02x", c)
			continue
		}
		b.WriteByte(c)
	}
	return b.String() + name[len(path):]
}
