package hclfolder

import (
	"regexp"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2/hclsyntax"

	"github.com/winbake/winbake/packer/internal/expression"
)

// What tells the system of a source: its label and these attributes, of paths the last
// part, and steps that nothing but Windows runs.
var (
	telling = regexp.MustCompile(`^(communicator|guest_os_type|os|os_type|image_(publisher|offer|sku)|source_(image|image_family|image_project_id|path)|iso_(urls?|paths|file)|template|clone_vm|filters|value|ssh_username)$`)
	windows = regexp.MustCompile(`(?i)windows|(^|[^a-z])w(in|2k|1\d)`)
	linux   = regexp.MustCompile(`(?i)linux|ubuntu|debian|centos|fedora|rhel|red-?hat|rhcos|coreos|flatcar|bottlerocket|opensuse|\bsles|\b(l26|alma|rocky|photon|amzn)|\bal20\d\d|^(root|core|(ec2|cloud)-user)$`)
	steps   = regexp.MustCompile(`^(powershell|windows-\w+|winbake-node)$`)
)

// leaveLinux takes sources of Linux out of those that are judged, unless all are: of the others
// some may be of Windows.
func (f *Folder) leaveLinux() {
	ofLinux := func(s *Block) bool {
		texts := append([]string{s.Labels[1]}, f.Telling(s.Body)...)
		return slices.ContainsFunc(texts, linux.MatchString) && !slices.ContainsFunc(texts, windows.MatchString) &&
			!slices.ContainsFunc(f.Provisioners(s), func(p *Block) bool { return steps.MatchString(p.Kind()) })
	}
	for _, s := range f.Sources {
		if ofLinux(s) {
			f.Linux = append(f.Linux, s)
		}
	}
	if len(f.Linux) == len(f.Sources) {
		f.Linux = nil
	}
	f.Sources = slices.DeleteFunc(f.Sources, func(s *Block) bool { return slices.Contains(f.Linux, s) })
}

// Telling are the values of a source that say of which system it is.
func (f *Folder) Telling(b *hclsyntax.Body) []string {
	var all []string
	Each(b, "", func(_ string, a *hclsyntax.Attribute) {
		if telling.MatchString(a.Name) {
			for _, text := range expression.Texts(f.Value(a.Expr)) {
				all = append(all, text[strings.LastIndexAny(text, `/\`)+1:])
			}
		}
	})
	return all
}
