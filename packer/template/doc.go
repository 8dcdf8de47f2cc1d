// Package template writes Packer template folders that make golden images of
// Windows Server for Kubernetes nodes: HCL2, answer files, PowerShell scripts
// and a README, for one platform each.
//
// Render makes the files of a folder from Options alone: the same options give
// the same bytes. Write puts them in place. ReadValues reads var-files and
// holds it to the folder's variables before Packer sees it.
//
// It runs neither Packer nor anything else, and reaches no network. What is
// wrong with a finished folder, ours or anybody's, is package lint's.
package template
