// Package notation knows what the files of a template are written in: it reads
// HCL in both of its notations, tells scripts and answer files by their names and
// beginnings, and takes comments out of them.
//
// What a file means is for package lint: this one evaluates and judges nothing.
package notation
