package inventory

// Condition is one condition of the ClusterVersion.
type Condition struct {
	Type string `json:"type"`
	// Status is True, False or Unknown.
	Status  string   `json:"status"`
	Reason  string   `json:"reason,omitempty"`
	Message string   `json:"message,omitempty"`
	At      Evidence `json:"at"`
}

// AdminGate is something that an update waits for until it is acknowledged:
// https://github.com/openshift/enhancements/blob/master/enhancements/update/upgrades-blocking-on-ack.md
type AdminGate struct {
	Key     string   `json:"key"`
	Message string   `json:"message,omitempty"`
	At      Evidence `json:"at"`
}

// Pool is a MachineConfigPool.
type Pool struct {
	Name   string `json:"name"`
	Paused bool   `json:"paused"`
	// Machines are the nodes of the pool, Updated those that have its present
	// configuration.
	Machines int      `json:"machines"`
	Updated  int      `json:"updated"`
	At       Evidence `json:"at"`
}

// ClusterCSIDriver says how OpenShift's storage operators treat one driver.
type ClusterCSIDriver struct {
	// Name is the driver's provisioner.
	Name string `json:"name"`
	// Management is spec.managementState: Managed, Unmanaged or Removed.
	Management string   `json:"management,omitempty"`
	At         Evidence `json:"at"`
}

// Namespace is a namespace with the labels that Pod Security admission goes by:
// https://kubernetes.io/docs/concepts/security/pod-security-admission/
type Namespace struct {
	Name string `json:"name"`
	// Enforce, Audit and Warn are levels: privileged, baseline or restricted; ""
	// for none, where the API server's default counts.
	Enforce string `json:"enforce,omitempty"`
	Audit   string `json:"audit,omitempty"`
	Warn    string `json:"warn,omitempty"`
	// Sync is the label security.openshift.io/scc.podSecurityLabelSync, "true"
	// or "false": whether OpenShift sets the levels by the SCCs that the
	// namespace's service accounts may use. "" for none.
	Sync string   `json:"sync,omitempty"`
	At   Evidence `json:"at"`
}

// Privileged tells whether HostProcess pods are let in.
func (n *Namespace) Privileged() bool { return n != nil && n.Enforce == "privileged" }

// Owner is a program that made an object and puts it back where somebody
// changes it.
type Owner struct {
	// Manager is Helm, Argo CD, Flux, OLM, ACM, Hive, or the kind of an owner
	// reference.
	Manager string `json:"manager"`
	// Kind, Namespace and Name are of what it was made from there: a Helm
	// release, an Application, a Kustomization; "" where nothing says.
	Kind      string   `json:"kind,omitempty"`
	Namespace string   `json:"namespace,omitempty"`
	Name      string   `json:"name,omitempty"`
	At        Evidence `json:"at"`
}
