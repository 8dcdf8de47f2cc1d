// Package answer makes and checks the answer files of Windows Setup and
// sysprep: autounattend.xml and unattend.xml. Those made hold ${...} where Packer puts
// a value in (templatefile).
//
// It is no full model of Microsoft's schema
// (https://learn.microsoft.com/windows-hardware/customize/desktop/unattend/).
package answer
