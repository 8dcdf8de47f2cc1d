package main

import (
	"encoding/binary"
	"fmt"
	"unsafe"

	"golang.org/x/sys/windows"
)

var (
	kernel32           = windows.NewLazySystemDLL("kernel32.dll")
	virtualAllocEx     = kernel32.NewProc("VirtualAllocEx")
	createRemoteThread = kernel32.NewProc("CreateRemoteThread")
	loadLibraryA       = kernel32.NewProc("LoadLibraryA")
)

// change loads ws2_32.dll into the program and has its exports lead to stubs.
func (p *program) change(listen, connect uint16) error {
	base, err := p.load("ws2_32.dll")
	if err != nil {
		return err
	}
	table, err := p.exports(base)
	if err != nil {
		return err
	}
	at, err := p.near(base)
	if err != nil {
		return err
	}
	var code []byte
	for _, s := range []struct {
		name string
		code []byte
	}{{"WSASocketW", socketStub}, {"bind", addressStub(listen)}, {"connect", addressStub(connect)}, {"getsockname", nameStub(listen)}} {
		entry, ok := table[s.name]
		if !ok {
			return fmt.Errorf("ws2_32.dll exports no %s", s.name)
		}
		var rva [4]byte
		if err := windows.ReadProcessMemory(p.handle, entry, &rva[0], 4, nil); err != nil {
			return err
		}
		original := base + uintptr(binary.LittleEndian.Uint32(rva[:]))
		// A stub begins with the address of the function that it means.
		code = binary.LittleEndian.AppendUint64(code, uint64(original))
		if err := p.writeRVA(entry, uint32(at+uintptr(len(code))-base)); err != nil {
			return err
		}
		code = append(code, s.code...)
		for len(code)%16 != 0 {
			code = append(code, 0xcc)
		}
	}
	return windows.WriteProcessMemory(p.handle, at, &code[0], uintptr(len(code)), nil)
}

// load has the program load a DLL, which is at the same address as here.
func (p *program) load(name string) (uintptr, error) {
	here, err := windows.LoadLibrary(name)
	if err != nil {
		return 0, err
	}
	text := append([]byte(name), 0)
	at, _, err := virtualAllocEx.Call(uintptr(p.handle), 0, uintptr(len(text)), windows.MEM_COMMIT|windows.MEM_RESERVE, windows.PAGE_READWRITE)
	if at == 0 {
		return 0, err
	}
	if err := windows.WriteProcessMemory(p.handle, at, &text[0], uintptr(len(text)), nil); err != nil {
		return 0, err
	}
	thread, _, err := createRemoteThread.Call(uintptr(p.handle), 0, 0, loadLibraryA.Addr(), at, 0, 0)
	if thread == 0 {
		return 0, err
	}
	if _, err := windows.WaitForSingleObject(windows.Handle(thread), windows.INFINITE); err != nil {
		return 0, err
	}
	var low uint32
	if ok, _, err := kernel32.NewProc("GetExitCodeThread").Call(thread, uintptr(unsafe.Pointer(&low))); ok == 0 {
		return 0, err
	}
	if low != uint32(here) {
		return 0, fmt.Errorf("%s is at %x in the program, at %x here", name, low, here)
	}
	return uintptr(here), nil
}

// near is memory of the program that an export of the DLL at base can name: those
// are offsets of 32 bits.
func (p *program) near(base uintptr) (uintptr, error) {
	for at := base + 1<<20; at < base+1<<31; at += 1 << 20 {
		if got, _, _ := virtualAllocEx.Call(uintptr(p.handle), at, 4096, windows.MEM_COMMIT|windows.MEM_RESERVE, windows.PAGE_EXECUTE_READWRITE); got != 0 {
			return got, nil
		}
	}
	return 0, fmt.Errorf("no memory is free near %x", base)
}

func (p *program) writeRVA(entry uintptr, rva uint32) error {
	var old uint32
	if err := windows.VirtualProtectEx(p.handle, entry, 4, windows.PAGE_READWRITE, &old); err != nil {
		return err
	}
	b := binary.LittleEndian.AppendUint32(nil, rva)
	return windows.WriteProcessMemory(p.handle, entry, &b[0], 4, nil)
}

// exports are the places of a loaded DLL's exports in its address table, by name:
// https://learn.microsoft.com/windows/win32/debug/pe-format#the-edata-section-image-only.
func (p *program) exports(base uintptr) (all map[string]uintptr, err error) {
	read := func(at uintptr, n int) []byte {
		b := make([]byte, n)
		if err == nil {
			err = windows.ReadProcessMemory(p.handle, at, &b[0], uintptr(n), nil)
		}
		return b
	}
	u32 := func(at uintptr) uintptr { return uintptr(binary.LittleEndian.Uint32(read(at, 4))) }
	directory := base + u32(base+u32(base+0x3c)+0x88)
	functions, names, ordinals := base+u32(directory+28), base+u32(directory+32), base+u32(directory+36)
	all = map[string]uintptr{}
	for i := range u32(directory + 24) {
		name := windows.ByteSliceToString(read(base+u32(names+4*i), 16))
		all[name] = functions + 4*uintptr(binary.LittleEndian.Uint16(read(ordinals+2*i, 2)))
	}
	return all, err
}

// Stubs, in x86-64 with Windows' calling convention. The original's address is in
// the eight bytes before each.
var (
	// WSASocketW(family, type, protocol, ...): family 1 becomes 2.
	socketStub = tail([]byte{
		0x83, 0xf9, 0x01, // cmp ecx, 1
		0x75, 0x05, // jne past
		0xb9, 0x02, 0x00, 0x00, 0x00, // mov ecx, 2
	})
)

// addressStub is of bind and connect(socket, address, length): an address of family
// 1 becomes 127.0.0.1 and the port.
func addressStub(port uint16) []byte {
	code := []byte{
		0x66, 0x83, 0x3a, 0x01, // cmp word [rdx], 1
		0x75, 0x0d, // jne past
		0x48, 0x8d, 0x15, 0x0c, 0x00, 0x00, 0x00, // lea rdx, [rip+12]: behind the jump
		0x41, 0xb8, 0x10, 0x00, 0x00, 0x00, // mov r8d, 16
	}
	return append(tail(code), append(inet(port), make([]byte, 8)...)...)
}

// nameStub is of getsockname(socket, address, length): the port's address becomes
// one of family 1 with no name.
func nameStub(port uint16) []byte {
	name := inet(port)
	return []byte{
		0x48, 0x83, 0xec, 0x28, // sub rsp, 40
		0x48, 0x89, 0x54, 0x24, 0x20, // mov [rsp+32], rdx
		0xff, 0x15, 0xe9, 0xff, 0xff, 0xff, // call [rip-23]: the original
		0x48, 0x8b, 0x54, 0x24, 0x20, // mov rdx, [rsp+32]
		0x81, 0x3a, name[0], name[1], name[2], name[3], // cmp dword [rdx], family and port
		0x75, 0x06, // jne past
		0xc7, 0x02, 0x01, 0x00, 0x00, 0x00, // mov dword [rdx], 1
		0x48, 0x83, 0xc4, 0x28, // add rsp, 40
		0xc3, // ret
	}
}

// tail ends a stub with a jump to the original.
func tail(code []byte) []byte {
	back := -int32(len(code) + 6 + 8)
	return append(append(code, 0xff, 0x25), binary.LittleEndian.AppendUint32(nil, uint32(back))...)
}

// inet is the first half of a sockaddr_in: 127.0.0.1 and the port.
func inet(port uint16) []byte {
	return append(binary.BigEndian.AppendUint16([]byte{2, 0}, port), 127, 0, 0, 1)
}
