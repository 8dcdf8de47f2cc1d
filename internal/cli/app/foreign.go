package app

// foreign is what users of other tools type here, after the program's name, and what
// does it.
var foreign = map[string]string{
	"payload -t":              "--push REGISTRY/IMAGE:TAG",
	"payload --tag":           "--push REGISTRY/IMAGE:TAG",
	"payload -o":              "--layout FOLDER, --tarball FILE or --dir FOLDER; --output json is how the answer is written",
	"driver -t":               "--push REGISTRY/FOLDER",
	"payload --dry-run":       "nothing: only --push writes outside of this machine; bake list shows what would be packed",
	"lock --dry-run":          "bake lock --check",
	"pin --dry-run":           "bake outdated, which changes nothing",
	"build -n":                "bake list, which builds nothing",
	"build --all":             "nothing: without names all components are built",
	"skew -n":                 "leave it out: all namespaces are read",
	"skew --namespace":        "leave it out: all namespaces are read",
	"skew -A":                 "leave it out: all namespaces are read",
	"skew --all-namespaces":   "leave it out: all namespaces are read",
	"skew -f":                 "--manifests FILE_OR_FOLDER",
	"skew --filename":         "--manifests FILE_OR_FOLDER",
	"skew plan -f":            "--manifests FILE_OR_FOLDER",
	"skew plan -n":            "leave it out: all namespaces are read",
	"skew plan -A":            "leave it out: all namespaces are read",
	"manifests csi-driver -n": "the namespace is the driver's in OpenShift; --upgrade-from FILE keeps that of your DaemonSet",
	"manifests csi-driver -o": "--out FOLDER; --output json is how the answer is written",
	"template -var":           "--var-file of packer build, or -var there",
	"template --var":          "--var-file of packer build, or -var there",
	"--verbose":               "--log-level debug",
	"-y":                      "nothing: no command asks",
	"--yes":                   "nothing: no command asks",
	"--force":                 "nothing: what is there isn't overwritten; give another name",
}
