package main

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"strings"

	disk "github.com/kubernetes-csi/csi-proxy/client/api/disk/v1"
	files "github.com/kubernetes-csi/csi-proxy/client/api/filesystem/v1"
	smb "github.com/kubernetes-csi/csi-proxy/client/api/smb/v1"
	vol "github.com/kubernetes-csi/csi-proxy/client/api/volume/v1"
	"google.golang.org/protobuf/proto"
)

// The calls and their order are those of the drivers that use csi-proxy on
// Windows: github.com/kubernetes-sigs/vsphere-csi-driver and azuredisk-csi-driver
// for a disk, github.com/kubernetes-csi/csi-driver-smb for a share.

// stageDisk is NodeStageVolume of a disk.
func stageDisk(ctx context.Context, p *proxy, v volume) error {
	if _, err := do(ctx, "disk.Rescan", p.disk.Rescan, &disk.RescanRequest{}); err != nil {
		return err
	}
	number, err := findDisk(ctx, p, v)
	if err != nil {
		return err
	}
	if err := online(ctx, p, number); err != nil {
		return err
	}
	if _, err := do(ctx, "disk.PartitionDisk", p.disk.PartitionDisk, &disk.PartitionDiskRequest{DiskNumber: number}); err != nil {
		return err
	}
	id, err := format(ctx, p, number)
	if err != nil {
		return err
	}
	if err := makeFolder(ctx, p, v.staging); err != nil {
		return err
	}
	if _, err := do(ctx, "volume.MountVolume", p.volume.MountVolume, &vol.MountVolumeRequest{VolumeId: id, TargetPath: v.staging}); err != nil {
		return err
	}
	_, err = do(ctx, "volume.GetVolumeStats", p.volume.GetVolumeStats, &vol.GetVolumeStatsRequest{VolumeId: id})
	return err
}

func findDisk(ctx context.Context, p *proxy, v volume) (uint32, error) {
	if v.disk >= 0 {
		return uint32(v.disk), nil
	}
	a, err := do(ctx, "disk.ListDiskLocations", p.disk.ListDiskLocations, &disk.ListDiskLocationsRequest{})
	if err != nil {
		return 0, err
	}
	for number, place := range a.GetDiskLocations() {
		if place.GetLUNID() == v.lun {
			return number, nil
		}
	}
	return 0, fmt.Errorf("no disk has LUN %s", v.lun)
}

func online(ctx context.Context, p *proxy, number uint32) error {
	state, err := do(ctx, "disk.GetDiskState", p.disk.GetDiskState, &disk.GetDiskStateRequest{DiskNumber: number})
	if err != nil || state.GetIsOnline() {
		return err
	}
	_, err = do(ctx, "disk.SetDiskState", p.disk.SetDiskState, &disk.SetDiskStateRequest{DiskNumber: number, IsOnline: true})
	return err
}

// format sees to it that the disk's volume has a file system, and returns its ID.
func format(ctx context.Context, p *proxy, number uint32) (string, error) {
	list, err := do(ctx, "volume.ListVolumesOnDisk", p.volume.ListVolumesOnDisk, &vol.ListVolumesOnDiskRequest{DiskNumber: number})
	if err != nil {
		return "", err
	}
	ids := list.GetVolumeIds()
	if len(ids) != 1 || ids[0] == "" {
		return "", fmt.Errorf("disk %d has the volumes %q, want one", number, ids)
	}
	formatted, err := do(ctx, "volume.IsVolumeFormatted", p.volume.IsVolumeFormatted, &vol.IsVolumeFormattedRequest{VolumeId: ids[0]})
	if err == nil && !formatted.GetFormatted() {
		_, err = do(ctx, "volume.FormatVolume", p.volume.FormatVolume, &vol.FormatVolumeRequest{VolumeId: ids[0]})
	}
	return ids[0], err
}

func makeFolder(ctx context.Context, p *proxy, path string) error {
	found, err := do(ctx, "filesystem.PathExists", p.files.PathExists, &files.PathExistsRequest{Path: path})
	if err == nil && !found.GetExists() {
		_, err = do(ctx, "filesystem.Mkdir", p.files.Mkdir, &files.MkdirRequest{Path: path})
	}
	return err
}

// stageSMB is NodeStageVolume of a share: it becomes a link at the staging
// folder, whose parent must be there.
func stageSMB(ctx context.Context, p *proxy, v volume) error {
	if err := makeFolder(ctx, p, parent(v.staging)); err != nil {
		return err
	}
	// An argument would be on show to every process.
	password, err := bufio.NewReader(os.Stdin).ReadString('\n')
	if err != nil {
		return fmt.Errorf("read the password: %w", err)
	}
	request := &smb.NewSmbGlobalMappingRequest{RemotePath: v.remote, LocalPath: v.staging, Username: v.user}
	secret := proto.CloneOf(request)
	secret.Password = strings.TrimRight(password, "\r\n")
	answer, err := p.smb.NewSmbGlobalMapping(ctx, secret)
	return firstError(show("smb.NewSmbGlobalMapping", request, answer, err), err)
}

// publish is NodePublishVolume: the staged volume appears in the pod's folder.
func publish(ctx context.Context, p *proxy, v volume) error {
	if err := makeFolder(ctx, p, parent(v.target)); err != nil {
		return err
	}
	if _, err := do(ctx, "filesystem.CreateSymlink", p.files.CreateSymlink, &files.CreateSymlinkRequest{SourcePath: v.staging, TargetPath: v.target}); err != nil {
		return err
	}
	// The next call of the kubelet finds the volume published by this question.
	a, err := do(ctx, "filesystem.IsSymlink", p.files.IsSymlink, &files.IsSymlinkRequest{Path: v.target})
	if err == nil && !a.GetIsSymlink() {
		err = fmt.Errorf("%s isn't a link", v.target)
	}
	return err
}

// unpublish is NodeUnpublishVolume.
func unpublish(ctx context.Context, p *proxy, v volume) error { return removeFolder(ctx, p, v.target) }

// Without force: what is behind a link or a mount point must stay.
func removeFolder(ctx context.Context, p *proxy, path string) error {
	_, err := do(ctx, "filesystem.Rmdir", p.files.Rmdir, &files.RmdirRequest{Path: path})
	return err
}

// unstageDisk is NodeUnstageVolume of a disk.
func unstageDisk(ctx context.Context, p *proxy, v volume) error {
	a, err := do(ctx, "volume.GetVolumeIDFromTargetPath", p.volume.GetVolumeIDFromTargetPath, &vol.GetVolumeIDFromTargetPathRequest{TargetPath: v.staging})
	if err != nil {
		return err
	}
	id := a.GetVolumeId()
	if _, err := do(ctx, "volume.WriteVolumeCache", p.volume.WriteVolumeCache, &vol.WriteVolumeCacheRequest{VolumeId: id}); err != nil {
		return err
	}
	if _, err := do(ctx, "volume.UnmountVolume", p.volume.UnmountVolume, &vol.UnmountVolumeRequest{VolumeId: id, TargetPath: v.staging}); err != nil {
		return err
	}
	return removeFolder(ctx, p, v.staging)
}

// unstageSMB is NodeUnstageVolume of a share.
func unstageSMB(ctx context.Context, p *proxy, v volume) error {
	if err := removeFolder(ctx, p, v.staging); err != nil {
		return err
	}
	_, err := do(ctx, "smb.RemoveSmbGlobalMapping", p.smb.RemoveSmbGlobalMapping, &smb.RemoveSmbGlobalMappingRequest{RemotePath: v.remote})
	return err
}

func parent(windows string) string { return windows[:max(0, strings.LastIndexByte(windows, '\\'))] }
