package app

import (
	"strings"

	"github.com/spf13/cobra"
)

// gone is what earlier versions had, as a user types it after the program's name,
// and what does it now. Flags are looked for with their command first, then alone.
var gone = map[string]string{
	"binary":   "verify payload DIR -f versions.yaml checks the programs of a folder or an image",
	"cache du": "du -sh $(bake cache path)",
	"cache gc": "nothing: what wasn't used for 5 days goes by itself; bake cache clean empties the cache",
	"manifests windows-services --with-checksums": "nothing: WMCO leaves the list of files empty; bake build -o json has the sums",
	"manifests windows-services --cloud":          "oc get configmap windows-services-VERSION -n openshift-windows-machine-config-operator -o yaml has what WMCO sets up there",
	"manifests precheck --interval":               "the CronJobs run each hour",
	"inventory":                                   "verify skew --details -o json has what was read",
	"skew --contexts":                             "for c in a b; do verify skew --context $c; done",
	"--accept-file":                               "--accept ID=object, for each finding to accept",
	"--planned":                                   "deploy it and check again; before that verify skew --static --from RELEASE --manifests FILE checks it alone",
	"skew precheck":                               "bake manifests precheck writes CronJobs that run verify skew",
	"skew --image-layout":                         "--image-version IMAGE=vX.Y.Z@COMMIT; bake driver -o json has digest, version and commit",
	"skew --resolve":                              "--image-version IMAGE=vX.Y.Z; the labels say which: skopeo inspect docker://IMAGE",
	"skew plan --image-layout":                    "--image-version IMAGE=vX.Y.Z@COMMIT; bake driver -o json has digest, version and commit",
	"skew plan --resolve":                         "--image-version IMAGE=vX.Y.Z; the labels say which: skopeo inspect docker://IMAGE",
	"template --first-boot-check":                 "nothing: the image is checked before sysprep, and verify.exe node check looks at a node",
	"template --adopt":                            "give another folder with --out and take the changes over; values belong into --var-file, steps of your own into --extra-script",
	"payload --overwrite":                         "give a new folder; what is in the other one stays",
	"services":                                    "bake manifests windows-services --wmco-version VERSION | oc diff -f -",
	"node":                                        "on the node: verify.exe node install, check or remove; bake verify-exe builds verify.exe",
	"node --expect":                               "verify.exe node check NODE.JSON",
}

// instead is what a user does now for a word or flag that went; "" for one that never was.
func instead(cmd *cobra.Command, word string) string { return of(gone, cmd, word) }

// of is what a table has for a word or flag of a command, or for the word alone.
func of(table map[string]string, cmd *cobra.Command, word string) string {
	_, path, _ := strings.Cut(cmd.CommandPath(), " ")
	if use, ok := table[strings.TrimSpace(path+" "+word)]; ok {
		return use
	}
	return table[word]
}

// insteadOf is instead for the first of a command's arguments.
func insteadOf(cmd *cobra.Command, args []string) string {
	if len(args) == 0 {
		return ""
	}
	return instead(cmd, args[0])
}
