// Package tekton runs ci/tekton's fan-out, the precheck's CronJobs and the DaemonSet for
// Windows nodes on a real cluster: API server, controllers, scheduler, kubelet and
// containerd, with Tekton's own controller and a registry that wants a login. It is
// make e2e-cluster's, needs root and cgroup v1, and isn't a part of make e2e.
package tekton
