// Package walkthrough runs the commands of docs/walkthrough.md, for each storage of its
// table, and of docs/csi-drivers.md as a reader types them: bake, verify and kubectl against a real Kubernetes API server. It has no code of its own.
//
// That server has no nodes and no controllers. The test plays them: it makes the
// pods of DaemonSets and Deployments through the server, whose admission judges
// them, says that they run, lists a driver in CSINode where its pod runs, binds
// claims, and updates the cluster where a page says oc adm upgrade. What isn't
// played doesn't run: such a block is marked in the page.
package walkthrough
