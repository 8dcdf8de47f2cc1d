// Package target is what programs are built for.
package target

// Target is a system as the go command names it.
type Target struct{ OS, Arch, AMD64 string }

// Windows is that of every program of a payload.
var Windows = Target{OS: "windows", Arch: "amd64", AMD64: "v1"}
