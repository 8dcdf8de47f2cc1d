// Package answer makes and checks the answer files of Windows Setup and
// sysprep: autounattend.xml and unattend.xml.
//
// The files made are templates beside this package, filled in, and hold ${...}
// where Packer puts a value in (templatefile). Check reads anybody's
// answer file and says what Windows Setup would pass over or choke on.
//
// It isn't a full model of Microsoft's schema: it writes what a Kubernetes
// node's image needs, and knows the passes of the components in use
// (https://learn.microsoft.com/windows-hardware/customize/desktop/unattend/).
package answer
