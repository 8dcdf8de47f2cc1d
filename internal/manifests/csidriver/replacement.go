package csidriver

import (
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/winbake/winbake/internal/catalog"
	"github.com/winbake/winbake/internal/inventory"
)

// Replacement is what --upgrade-from writes for a DaemonSet of which an inventory
// is known: the driver's image, and the files that come before the DaemonSet.
func Replacement(cat *catalog.Catalog, o Options, present *inventory.Driver) (image string, access []string, err error) {
	old := &Old{Driver: o.Driver, DaemonSet: &appsv1.DaemonSet{ObjectMeta: metav1.ObjectMeta{Namespace: present.Object.Namespace, Name: present.Object.Name}}}
	if d := definitionOf(o.Driver); d != nil {
		old.DaemonSet.Spec.Template.Spec.ServiceAccountName = present.ServiceAccount
		old.DaemonSet.Spec.Template.Spec.Containers = []corev1.Container{{Name: d.Container, Image: present.Image.Reference}}
	}
	o.Old, o.Namespace, o.Registry = old, old.Namespace(), old.Registry(cat)
	folder, err := Render(cat, o)
	if err != nil {
		return "", nil, err
	}
	_, _, image = folder.DaemonSet()
	return image, folder.Access(), nil
}

// DaemonSet names the folder's, and the image that runs the driver.
func (f *Folder) DaemonSet() (name, namespace, image string) {
	if c := container(&f.daemonSet.Spec.Template.Spec, f.definition.Container); c != nil {
		image = c.Image
	}
	return f.daemonSet.Name, f.daemonSet.Namespace, image
}
