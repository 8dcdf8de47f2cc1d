package ociimage

// Keys of labels and annotations:
// https://github.com/opencontainers/image-spec/blob/main/annotations.md
const (
	KeyCreated    = "org.opencontainers.image.created"
	KeyTitle      = "org.opencontainers.image.title"
	KeySource     = "org.opencontainers.image.source"
	KeyRevision   = "org.opencontainers.image.revision"
	KeyVersion    = "org.opencontainers.image.version"
	KeyBaseName   = "org.opencontainers.image.base.name"
	KeyBaseDigest = "org.opencontainers.image.base.digest"
)

// Keys of labels that OpenShift's own images have, and of annotations that a release
// payload copies from them:
// https://github.com/openshift/oc/blob/main/pkg/cli/admin/release/annotations.go
const (
	KeyCommit         = "io.openshift.build.commit.id"
	KeySourceLocation = "io.openshift.build.source-location"
)

// KeyDriver is ours: the label with the name of the driver that an image of bake
// driver holds.
const KeyDriver = "dev.winbake.driver"
