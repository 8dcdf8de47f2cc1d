package pe

import (
	"bufio"
	"bytes"
	"debug/pe"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"strings"
)

// symbol is where a name of the symbol table stands.
type symbol struct {
	section int16 // from 1; 0 and below for what has no section
	value   uint32
}

// maxSymbolName bounds the names that are compared, in bytes.
const maxSymbolName = 4 << 10

// symbols finds the named symbols in one pass over the string table and one
// over the symbol table, neither of which is loaded: a kubelet's take 15 MB.
// A name that isn't there is absent from the answer.
func (f *File) symbols(want map[string]bool) (map[string]symbol, error) {
	if !f.Symbols {
		return nil, ErrNoSymbols
	}
	long, err := f.stringOffsets(want)
	if err != nil {
		return nil, err
	}
	found := map[string]symbol{}
	err = f.eachSymbol(func(rec []byte) error {
		name, ok := symbolName(rec, long, want)
		if !ok {
			return nil
		}
		s := symbol{int16(binary.LittleEndian.Uint16(rec[12:])), binary.LittleEndian.Uint32(rec[8:])}
		if old, twice := found[name]; twice && old != s {
			return fmt.Errorf("%w: symbol %s stands for two things", ErrDamaged, name)
		}
		found[name] = s
		return nil
	})
	return found, err
}

// symbolName returns the name of a symbol record, if it is a wanted one.
func symbolName(rec []byte, long map[uint32]string, want map[string]bool) (string, bool) {
	if binary.LittleEndian.Uint32(rec) == 0 {
		name, ok := long[binary.LittleEndian.Uint32(rec[4:])]
		return name, ok
	}
	short, _, _ := bytes.Cut(rec[:8], []byte{0})
	if !want[string(short)] {
		return "", false
	}
	return string(short), true
}

// stringOffsets returns at which offsets of the string table the wanted names
// stand.
func (f *File) stringOffsets(want map[string]bool) (map[uint32]string, error) {
	off, size, err := f.stringTable()
	if err != nil || size <= 4 {
		return nil, err
	}
	found := map[uint32]string{}
	at := int64(4)
	r := f.r.stream(off+at, size-at)
	for {
		name, n, err := nextString(r)
		if want[string(name)] {
			found[uint32(at)] = string(name)
		}
		at += n
		if errors.Is(err, io.EOF) {
			return found, nil
		}
		if err != nil {
			return nil, fmt.Errorf("read string table: %w", err)
		}
	}
}

// nextString reads up to and with the next NUL and returns the string before
// it and how many bytes were read. A string longer than the buffer comes out
// empty: no name of ours is that long.
func nextString(r *bufio.Reader) (name []byte, n int64, err error) {
	name, err = r.ReadSlice(0)
	n = int64(len(name))
	for errors.Is(err, bufio.ErrBufferFull) {
		var rest []byte
		rest, err = r.ReadSlice(0)
		name, n = nil, n+int64(len(rest))
	}
	name = bytes.TrimSuffix(name, []byte{0})
	if len(name) > maxSymbolName {
		name = nil
	}
	return name, n, err
}

// eachSymbol calls fn with each symbol's record, auxiliary records left out.
func (f *File) eachSymbol(fn func(rec []byte) error) error {
	left := int64(f.coff.NumberOfSymbols)
	r := f.r.stream(int64(f.coff.PointerToSymbolTable), left*pe.COFFSymbolSize)
	var rec [pe.COFFSymbolSize]byte
	for left > 0 {
		if _, err := io.ReadFull(r, rec[:]); err != nil {
			return fmt.Errorf("read symbol table: %w", err)
		}
		if err := fn(rec[:]); err != nil {
			return err
		}
		aux := min(int64(rec[17]), left-1)
		if _, err := r.Discard(int(aux) * pe.COFFSymbolSize); err != nil {
			return fmt.Errorf("read symbol table: %w", err)
		}
		left -= 1 + aux
	}
	return nil
}

// spellings returns, for each name, the symbols that it may stand under.
func spellings(names []string) map[string]bool {
	want := map[string]bool{}
	for _, n := range names {
		want[n], want[escape(n)] = true, true
	}
	return want
}

// maxString bounds a variable's value, in bytes. Stamps are short.
const maxString = 64 << 10

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
