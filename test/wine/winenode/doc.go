// Package winenode makes a Windows node for tests: a Wine prefix behind an SSH
// and SFTP server that looks like a Windows Server guest's. Real Windows
// executables run on it, as programs and as services, and every node has a
// prefix of its own, so tests run side by side.
//
// It belongs to tests and isn't shipped. What it shows is that our programs
// and commands do their work through the Windows calls that Wine has. What it
// can't show, because Wine answers success and does nothing, or has it not:
//
//   - PowerShell. C:\Windows\...\powershell.exe is a double that gives the
//     answers it was told to expect ([Node.Expect]) and fails on everything else.
//     Wine's own answers 0 to anything.
//   - disks, volumes, SMB mounts and symbolic links.
//   - a service's recovery actions: Wine stores none, and `sc qc` and `sc
//     failure` prove nothing. Its Environment is stored and told, and its
//     process doesn't get it.
//   - what depends on a service: Wine's manager says that nothing does.
//   - the state of a service whose process was killed: `sc query` goes on
//     saying RUNNING. Ask for its process and its pipes.
//   - who may do what: everybody is an administrator. [Options.NotAdministrator]
//     doubles the refusals of the commands and folders that matter.
//
// docs/windows-truth.md has the list row by row, with what would show it.
package winenode
