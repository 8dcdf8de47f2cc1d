package winedriver

// Volume is what the kubelet knows of one.
type Volume struct {
	ID                        string
	Published, Secrets, Given map[string]string // by the controller, of a Secret, by the PersistentVolume
}

// Where the kubelet has it.
const (
	staging = `C:\var\lib\kubelet\plugins\kubernetes.io\csi\x\globalmount`
	target  = `C:\var\lib\kubelet\pods\1\volumes\kubernetes.io~csi\pvc\mount`
)

// capability is a file system that one node writes to.
func capability() Message {
	return Message(nil).message(2, Message(nil).text(1, "ntfs")).message(3, Message(nil).number(1, 1))
}

// step is a call of the kubelet's.
type step struct {
	service, method string
	request         Message
}

// steps are what the kubelet calls from the driver's start to a pod's end, by
// https://github.com/container-storage-interface/spec/blob/v1.11.0/csi.proto.
func (v Volume) steps() []step {
	id := func() Message { return Message(nil).text(1, v.ID) }
	return []step{
		{"Identity", "GetPluginInfo", nil},
		{"Identity", "Probe", nil},
		{"Node", "NodeGetCapabilities", nil},
		{"Node", "NodeGetInfo", nil},
		{"Node", "NodeStageVolume", id().entries(2, v.Published).text(3, staging).message(4, capability()).entries(5, v.Secrets).entries(6, v.Given)},
		{"Node", "NodePublishVolume", id().entries(2, v.Published).text(3, staging).text(4, target).message(5, capability()).entries(7, v.Secrets).entries(8, v.Given)},
		{"Node", "NodeUnpublishVolume", id().text(2, target)},
		{"Node", "NodeUnstageVolume", id().text(2, staging)},
	}
}
