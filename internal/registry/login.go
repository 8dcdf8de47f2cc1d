package registry

import "os"

// tektonCredentials is where Tekton keeps the logins of a run's service account
// in each step: https://tekton.dev/docs/pipelines/auth/
var tektonCredentials = "/tekton/creds"

// login says how to get an account that may do what was refused. A pod has no
// login of its own: what its service account has is for the kubelet, unless
// something brings it into the container.
func login(registry, may string) string {
	if os.Getenv("KUBERNETES_SERVICE_HOST") == "" {
		return "podman login " + registry + ", with an account that may " + may
	}
	if _, err := os.Stat(tektonCredentials); err == nil {
		return "give the pipeline's service account a login that may " + may +
			": podman login --authfile login.json " + registry + " && oc create secret generic LOGIN --type=kubernetes.io/dockerconfigjson" +
			" --from-file=.dockerconfigjson=login.json && oc secrets link SERVICEACCOUNT LOGIN" +
			"; and let the step find it: env DOCKER_CONFIG=$(credentials.path)/.docker"
	}
	return "give this pod a login that may " + may + ": mount a Secret of type kubernetes.io/dockerconfigjson" +
		" and name its file, env REGISTRY_AUTH_FILE=/MOUNTPATH/.dockerconfigjson; the service account's pull secrets are the kubelet's alone"
}
