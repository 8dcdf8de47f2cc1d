// Package version reads the versions that the field writes: tags of driver
// images, OpenShift releases, kubelets and csi-proxy builds.
//
// It isn't a general semver package: github.com/Masterminds/semver/v3 takes
// v1.29.2-windows-hp and v1.1.3-28-g0939e7a for pre-releases, which sort below
// their own release. A tag is split here into core, pre-release, distance and
// variant before anything is compared.
package version
