// Package hclfolder reads the HCL of a Packer template: its blocks, its variables and
// locals with their values, and the sources as builds use them. It judges nothing.
package hclfolder
