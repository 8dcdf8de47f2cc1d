package verify

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/winbake/winbake/internal/cli/app"
	"github.com/winbake/winbake/internal/report"
	"github.com/winbake/winbake/packer/lint"
)

func newTemplate(t *tool) *cobra.Command {
	var o lint.Options
	cmd := &cobra.Command{
		Use:   "template DIR",
		Short: "Check a Packer template for what packer validate doesn't see",
		Long: `template reads a folder of .pkr.hcl and .pkr.json files, anybody's, with the scripts and
answer files that they name, and checks what Packer doesn't: guest ids, plugin
ranges, sums of ISOs, firmware against disk layout, answer files, keys and
passwords that come with the template, drive letters, sysprep, and the steps
that a node's image needs.

Values that are only given at build time are UNKNOWN: --var-file gives them.
Steps whose content can't be read, such as Ansible's, make what is missing
UNKNOWN too.`,
		Example: `  verify template image
  verify template image --var-file prod.pkrvars.hcl
  verify template docs/vsphere_ci --profile openshift -o junit > template.xml`,
		Args: app.Args(cobra.ExactArgs(1)),
		RunE: func(cmd *cobra.Command, args []string) error {
			if o.Profile != "" && !slices.Contains(lint.Profiles(), o.Profile) {
				return usage(cmd, "--profile can't be %q: openshift or generic", o.Profile)
			}
			result, err := lint.Check(args[0], o)
			if err != nil {
				return err
			}
			return t.finish(report.Report{
				Subject: args[0], Findings: result.Findings,
				Checked: fmt.Sprintf("%d files", result.Files),
				Notes:   []string{fmt.Sprintf("held to the profile %s; builders: %s", result.Profile, cmp.Or(strings.Join(result.Sources, ", "), "none"))},
			})
		},
	}
	f := cmd.Flags()
	f.StringVar(&o.Profile, "profile", "", "openshift or generic (default what bake template wrote, else openshift)")
	f.StringArrayVar(&o.VarFiles, "var-file", nil, "values of the build, as for packer; may be repeated")
	app.Choices(cmd, "profile", lint.Profiles()...)
	return cmd
}
