package answer

// Sizes in MB. The recovery tools stay in Windows' own partition: WinRE in one
// of its own behind it would be in the way when a cloned disk is extended.
const (
	efiSize    = 300
	msrSize    = 16
	systemSize = 500
)

// efiLayout is EFI, MSR and Windows, as Microsoft's UEFI layout has them.
func efiLayout() (disk, int) {
	return newDisk(
		[]createPartition{{Type: "EFI", Size: efiSize}, {Type: "MSR", Size: msrSize}, {Type: "Primary", Extend: true}},
		[]modifyPartition{{PartitionID: 1, Format: "FAT32", Label: "System"}, {PartitionID: 2}, {PartitionID: 3, Format: "NTFS", Label: "Windows"}},
	), 3
}

// biosLayout is an active system partition and Windows.
func biosLayout() (disk, int) {
	return newDisk(
		[]createPartition{{Type: "Primary", Size: systemSize}, {Type: "Primary", Extend: true}},
		[]modifyPartition{{PartitionID: 1, Format: "NTFS", Label: "System", Active: true}, {PartitionID: 2, Format: "NTFS", Label: "Windows"}},
	), 2
}

// newDisk numbers the steps. No letters are given: which are free differs
// from machine to machine, and Windows takes C: by itself.
func newDisk(create []createPartition, modify []modifyPartition) disk {
	for i := range create {
		create[i].action, create[i].Order = add, i+1
	}
	for i := range modify {
		modify[i].action, modify[i].Order = add, i+1
	}
	return disk{WillShowUI: "OnError", Disk: diskLayout{action: add, WillWipeDisk: true, Create: create, Modify: modify}}
}
