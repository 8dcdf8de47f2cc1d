// Package firstboot is the node's check at the first boot of a machine that
// was made of an image: it waits until Windows Setup has ended, looks until all
// is well or the time is up, and leaves the answer in a file and in Windows'
// event log, where somebody who wasn't there finds it.
//
// What is looked at is package agent's, and how it's judged package node's. It
// changes nothing else on the machine; who starts it, and what takes that away
// again, is the image's: see packer/template/scripts/first-boot-check.ps1.
package firstboot
