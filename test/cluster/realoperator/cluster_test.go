//go:build operator

package realoperator

import (
	"crypto/ed25519"
	"crypto/rand"
	"encoding/base64"
	"encoding/pem"
	"fmt"
	"strings"
	"testing"

	"golang.org/x/crypto/ssh"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/winbake/winbake/test/cluster/apiserver"
)

var (
	infrastructures = kind("config.openshift.io/v1", "infrastructures", "Infrastructure", false)
	machineConfigs  = kind("machineconfiguration.openshift.io/v1", "machineconfigs", "MachineConfig", false)
)

// kinds are those that the operator reads or watches.
var kinds = []apiserver.Kind{
	kind("config.openshift.io/v1", "clusteroperators", "ClusterOperator", false),
	kind("config.openshift.io/v1", "imagedigestmirrorsets", "ImageDigestMirrorSet", false),
	kind("config.openshift.io/v1", "imagetagmirrorsets", "ImageTagMirrorSet", false),
	infrastructures,
	kind("config.openshift.io/v1", "networks", "Network", false),
	kind("machine.openshift.io/v1beta1", "machines", "Machine", true),
	kind("machine.openshift.io/v1beta1", "machinesets", "MachineSet", true),
	kind("machineconfiguration.openshift.io/v1", "controllerconfigs", "ControllerConfig", false),
	machineConfigs,
	kind("monitoring.coreos.com/v1", "servicemonitors", "ServiceMonitor", true),
	kind("operator.openshift.io/v1", "networks", "Network", false),
	kind("operators.coreos.com/v2", "operatorconditions", "OperatorCondition", true),
}

func kind(groupVersion, resource, name string, namespaced bool) apiserver.Kind {
	gv, err := schema.ParseGroupVersion(groupVersion)
	if err != nil {
		panic(err)
	}
	return apiserver.Kind{Resource: gv.WithResource(resource), Name: name, Namespaced: namespaced}
}

// apiServer is where nodes reach the cluster.
const apiServer = "https://api-int.example.com:6443"

// cluster is what the operator asks for before it looks at its payload, and the
// pod that it is.
const cluster = `
apiVersion: config.openshift.io/v1
kind: Network
metadata: {name: cluster}
spec: {networkType: OVNKubernetes, serviceNetwork: [172.30.0.0/16]}
---
apiVersion: operator.openshift.io/v1
kind: Network
metadata: {name: cluster}
spec:
  defaultNetwork:
    type: OVNKubernetes
    ovnKubernetesConfig:
      hybridOverlayConfig: {hybridClusterNetwork: [{cidr: 10.132.0.0/14, hostPrefix: 23}]}
---
apiVersion: config.openshift.io/v1
kind: Infrastructure
metadata: {name: cluster}
status:
  apiServerInternalURI: ` + apiServer + `
  platformStatus: {type: None}
---
apiVersion: machineconfiguration.openshift.io/v1
kind: MachineConfig
metadata: {name: rendered-worker-1}
spec:
  config:
    ignition: {version: 3.2.0}
    systemd:
      units:
        - name: kubelet.service
          contents: |
            [Service]
            ExecStart=/usr/bin/kubelet \
              --config=/etc/kubernetes/kubelet.conf
---
apiVersion: machineconfiguration.openshift.io/v1
kind: ControllerConfig
metadata: {name: machine-config-controller}
spec: {kubeAPIServerServingCAData: Y2E=}
---
apiVersion: v1
kind: Pod
metadata: {name: operator, namespace: openshift-windows-machine-config-operator}
spec: {containers: [{name: operator, image: operator}]}
`

// instance is what the operator reads to configure a Windows instance.
func instance(t *testing.T) string {
	t.Helper()
	_, key, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	block, err := ssh.MarshalPrivateKey(key, "")
	if err != nil {
		t.Fatal(err)
	}
	host, _, _ := strings.Cut(nodeAddress, ":")
	return fmt.Sprintf(instanceObjects, host, base64.StdEncoding.EncodeToString(pem.EncodeToMemory(block)))
}

const instanceObjects = `
apiVersion: v1
kind: ConfigMap
metadata: {name: windows-instances, namespace: openshift-windows-machine-config-operator}
data: {"%s": username=Administrator}
---
apiVersion: v1
kind: Secret
metadata: {name: cloud-private-key, namespace: openshift-windows-machine-config-operator}
data: {private-key.pem: %s}
---
apiVersion: v1
kind: Secret
metadata: {name: windows-machine-config-operator-tls, namespace: openshift-windows-machine-config-operator}
stringData: {tls.crt: certificate, tls.key: key}
---
apiVersion: v1
kind: Secret
metadata: {name: pull-secret, namespace: openshift-config}
type: kubernetes.io/dockerconfigjson
stringData: {.dockerconfigjson: '{"auths": {}}'}
---
apiVersion: v1
kind: Secret
metadata: {name: node-bootstrapper-token, namespace: openshift-machine-config-operator}
stringData: {ca.crt: ca, token: token}
---
apiVersion: v1
kind: Secret
metadata:
  name: windows-instance-config-daemon
  namespace: openshift-windows-machine-config-operator
  annotations: {kubernetes.io/service-account.name: windows-instance-config-daemon}
type: kubernetes.io/service-account-token
stringData: {ca.crt: ca, token: token}
---
apiVersion: v1
kind: Namespace
metadata: {name: openshift-machine-api}
`
