package pe

import (
	"debug/pe"
	"encoding/binary"
	"fmt"
	"strings"
)

// maxString bounds a variable's value, in bytes. Stamps are short.
const maxString = 64 << 10

// Var is the value of a string variable, or why it couldn't be told.
type Var struct {
	Value string
	Err   error
}

// StringVar returns the value that the Go string variable name ("main.version",
// "k8s.io/component-base/version.gitVersion") has when the program starts. The
// error wraps ErrNoSymbols, ErrNoSymbol or ErrDamaged. A variable that exists
// and was never set is "".
func (f *File) StringVar(name string) (string, error) {
	v := f.StringVars(name)[name]
	return v.Value, v.Err
}

// StringVars is StringVar for many names at the cost of one.
func (f *File) StringVars(names ...string) map[string]Var {
	vars := make(map[string]Var, len(names))
	syms, err := f.symbols(spellings(names))
	for _, name := range names {
		if err != nil {
			vars[name] = Var{Err: fmt.Errorf("find variable %s: %w", name, err)}
			continue
		}
		sym, ok := syms[name]
		if !ok {
			sym, ok = syms[escape(name)]
		}
		if !ok {
			vars[name] = Var{Err: fmt.Errorf("find variable %s: %w", name, ErrNoSymbol)}
			continue
		}
		v, err := f.stringAt(sym)
		if err != nil {
			err = fmt.Errorf("read variable %s: %w", name, err)
		}
		vars[name] = Var{Value: v, Err: err}
	}
	return vars
}

// stringAt follows a string variable's pointer. The linker writes it for the
// preferred load address.
func (f *File) stringAt(sym symbol) (string, error) {
	if sym.section < 1 || int(sym.section) > len(f.Sections) {
		return "", fmt.Errorf("%w: its symbol names section %d of %d", ErrDamaged, sym.section, len(f.Sections))
	}
	c := &f.Sections[sym.section-1]
	if c.Characteristics&pe.IMAGE_SCN_MEM_EXECUTE != 0 {
		return "", fmt.Errorf("%w: it is code in section %q and no variable", ErrNoSymbol, c.Name)
	}
	ptr, n, err := f.stringHeader(c, sym)
	if err != nil || n == 0 {
		return "", err
	}
	if n > maxString {
		return "", fmt.Errorf("%w: it is %d bytes long, %d are believed", ErrDamaged, n, maxString)
	}
	text := make([]byte, n)
	if err := f.readVA(text, ptr, "the text of the string"); err != nil {
		return "", err
	}
	return string(text), nil
}

// stringHeader reads pointer and length, of 8 bytes each or of 4.
func (f *File) stringHeader(c *Section, sym symbol) (ptr, n uint64, err error) {
	var raw [16]byte
	if f.PE32Plus {
		err = c.readAt(f.r, raw[:], uint64(sym.value), "the string's header")
		return binary.LittleEndian.Uint64(raw[:]), binary.LittleEndian.Uint64(raw[8:]), err
	}
	err = c.readAt(f.r, raw[:8], uint64(sym.value), "the string's header")
	return uint64(binary.LittleEndian.Uint32(raw[:])), uint64(binary.LittleEndian.Uint32(raw[4:])), err
}

// escape spells a variable as the linker does: in the last element of the
// import path dots, and anywhere percent signs, quotes and what isn't printable
// ASCII, become %xx. See PathToPrefix in
// https://github.com/golang/go/blob/go1.26.0/src/cmd/internal/objabi/path.go.
func escape(name string) string {
	dot := strings.LastIndexByte(name, '.')
	if dot < 0 {
		return name
	}
	path := name[:dot]
	slash := strings.LastIndexByte(path, '/')
	var b strings.Builder
	for i := range len(path) {
		c := path[i]
		if c <= ' ' || c == '.' && i > slash || c == '%' || c == '"' || c >= 0x7f {
			fmt.Fprintf(&b, "%%%02x", c)
			continue
		}
		b.WriteByte(c)
	}
	return b.String() + name[dot:]
}
