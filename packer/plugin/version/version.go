// Package version is the plugin's own version, which Packer asks for and
// required_plugins compares with.
package version

import "github.com/hashicorp/packer-plugin-sdk/version"

var (
	// Version is the release that this is, or will be.
	Version = "0.1.0"
	// Prerelease is "dev" until a release clears it at link time: Packer
	// installs no other kind of prerelease.
	Prerelease = "dev"
	// Metadata is set at link time, "" for none.
	Metadata = ""
)

// Plugin is the version as Packer wants it.
func Plugin() *version.PluginVersion {
	return version.NewPluginVersion(Version, Prerelease, Metadata)
}

// UserAgent is what registries are told.
func UserAgent() string { return "packer-plugin-winbake/" + Version }
