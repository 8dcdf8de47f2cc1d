#!/usr/bin/env bash
# One node of Kubernetes with its control plane, in namespaces of its own: network,
# mounts, processes, host name. Everything ends with the first process.
#   node.sh start    in the folder that has the programs as bin, and gets logs and kubeconfig
#   node.sh stop
# The node is 10.99.0.1, the host 10.99.0.254. It needs root, cgroup v1, containerd, runc,
# etcd, the CNI plugins of Debian's package, ip and iptables.
set -euo pipefail
self=$(readlink -f "$0")
node=10.99.0.1 host=10.99.0.254
dir=$PWD
groups=(cpu cpuacct cpuset memory devices freezer blkio pids systemd)
kept=(vm.overcommit_memory kernel.panic kernel.panic_on_oops kernel.keys.root_maxkeys kernel.keys.root_maxbytes)

start() {
  mkdir -p log
  # The kubelet sets these for the whole machine.
  for s in "${kept[@]}"; do echo "$s=$(sysctl -n "$s")"; done > sysctl
  ip link add winbake0 type veth peer name winbake1
  ip addr add $host/24 dev winbake0
  ip link set winbake0 up
  setsid unshare --mount --net --pid --ipc --uts --fork --kill-child --mount-proc --propagation private \
    bash "$self" inside > log/node.log 2>&1 < /dev/null &
  until first=$(cat /proc/$!/task/$!/children 2>/dev/null) && [ -n "$first" ]; do sleep 0.05; done
  echo "${first%% *}" > pid
  until [ "$(readlink "/proc/$(cat pid)/ns/net")" != "$(readlink /proc/self/ns/net)" ]; do sleep 0.05; done
  ip link set winbake1 netns "$(cat pid)"
  touch wired
  # A test that is killed runs no clean-up.
  setsid bash "$self" watch "$PPID" > /dev/null 2>&1 < /dev/null &
}

watch() {
  while [ -e "/proc/$1" ] && [ -e "/proc/$(cat pid)" ]; do sleep 1; done
  stop
}

stop() {
  kill -9 "$(cat pid)" 2>/dev/null || true
  while [ -e "/proc/$(cat pid)" ]; do sleep 0.1; done
  ip link del winbake0 2>/dev/null || true
  for g in "${groups[@]}"; do find "/sys/fs/cgroup/$g/winbake" -depth -type d -exec rmdir {} + 2>/dev/null || true; done
  sysctl -qw $(cat sysctl)
}

inside() {
  mount --make-rshared /
  for place in /run /var/log /var/lib/cni; do mkdir -p $place; mount -t tmpfs tmpfs $place; done
  hostname node
  until [ -e wired ]; do sleep 0.05; done
  ip link set lo up
  ip link set winbake1 name eth0
  ip addr add $node/24 dev eth0
  ip link set eth0 up
  ip route add default via $host
  sysctl -qw net.ipv4.ip_forward=1

  etcd --data-dir="$dir/etcd" --listen-client-urls=unix://client:0 --advertise-client-urls=unix://client:0 \
    --listen-peer-urls=unix://peer:0 --initial-advertise-peer-urls=unix://peer:0 --initial-cluster=default=unix://peer:0 \
    --unsafe-no-fsync > log/etcd.log 2>&1 &
  openssl ecparam -name prime256v1 -genkey -noout -out key
  token=$(head -c16 /dev/urandom | od -An -tx1 | tr -d ' \n')
  echo "$token,admin,admin,system:masters" > tokens
  bin/kube-apiserver --etcd-servers="unix://$dir/client:0" --bind-address=0.0.0.0 --advertise-address=$node --secure-port=6443 \
    --cert-dir="$dir/certs" --service-cluster-ip-range=10.0.0.0/24 --allow-privileged=true \
    --service-account-issuer=https://kubernetes.default.svc --service-account-signing-key-file=key --service-account-key-file=key \
    --token-auth-file=tokens --authorization-mode=Node,RBAC --kubelet-preferred-address-types=InternalIP > log/kube-apiserver.log 2>&1 &
  until [ -s certs/apiserver.crt ]; do sleep 0.1; done
  cat > kubeconfig.new << END
apiVersion: v1
kind: Config
clusters: [{name: c, cluster: {server: 'https://$node:6443', certificate-authority: $dir/certs/apiserver.crt}}]
users: [{name: admin, user: {token: $token}}]
contexts: [{name: c, context: {cluster: c, user: admin}}]
current-context: c
END
  mv kubeconfig.new kubeconfig
  until bin/kubectl --kubeconfig=kubeconfig get --raw /readyz > /dev/null 2>&1; do sleep 0.2; done

  local auth=(--kubeconfig=kubeconfig --authentication-kubeconfig=kubeconfig --authorization-kubeconfig=kubeconfig --leader-elect=false --bind-address=127.0.0.1)
  bin/kube-controller-manager "${auth[@]}" --service-account-private-key-file=key --root-ca-file=certs/apiserver.crt \
    --use-service-account-credentials=true --cert-dir="$dir/certs-kcm" > log/kube-controller-manager.log 2>&1 &
  bin/kube-scheduler "${auth[@]}" --cert-dir="$dir/certs-scheduler" > log/kube-scheduler.log 2>&1 &

  mkdir -p net.d
  cat > net.d/10-pods.conflist << END
{"cniVersion": "0.4.0", "name": "pods", "plugins": [
  {"type": "ptp", "ipMasq": true, "ipam": {"type": "host-local", "ranges": [[{"subnet": "10.244.0.0/24"}]], "routes": [{"dst": "0.0.0.0/0"}]}},
  {"type": "portmap", "capabilities": {"portMappings": true}}]}
END
  cat > containerd.toml << END
version = 2
root = "$dir/containerd"
state = "/run/containerd"
[grpc]
  address = "/run/containerd/containerd.sock"
[plugins."io.containerd.grpc.v1.cri"]
  sandbox_image = "$host:5000/pause:1"
  # Without CAP_SYS_RESOURCE runc can't lower it.
  restrict_oom_score_adj = true
  [plugins."io.containerd.grpc.v1.cri".cni]
    bin_dir = "/usr/lib/cni"
    conf_dir = "$dir/net.d"
  [plugins."io.containerd.grpc.v1.cri".registry.mirrors."$host:5000"]
    endpoint = ["http://$host:5000"]
  [plugins."io.containerd.grpc.v1.cri".containerd.runtimes.runc]
    runtime_type = "io.containerd.runc.v2"
    [plugins."io.containerd.grpc.v1.cri".containerd.runtimes.runc.options]
      SystemdCgroup = false
END
  containerd -c containerd.toml > log/containerd.log 2>&1 &
  until [ -S /run/containerd/containerd.sock ]; do sleep 0.1; done

  for g in "${groups[@]}"; do mkdir -p "/sys/fs/cgroup/$g/winbake"; done
  for f in cpuset.cpus cpuset.mems; do cat "/sys/fs/cgroup/cpuset/$f" > "/sys/fs/cgroup/cpuset/winbake/$f"; done
  cat > kubelet.yaml << END
apiVersion: kubelet.config.k8s.io/v1beta1
kind: KubeletConfiguration
authentication: {anonymous: {enabled: true}, webhook: {enabled: false}}
authorization: {mode: AlwaysAllow}
containerRuntimeEndpoint: unix:///run/containerd/containerd.sock
cgroupDriver: cgroupfs
cgroupRoot: /winbake
enforceNodeAllocatable: [none]
failSwapOn: false
resolvConf: ""
podLogsDir: $dir/pods
imageGCHighThresholdPercent: 100
evictionHard: {memory.available: 100Mi, nodefs.available: 1%, imagefs.available: 1%}
volumePluginDir: $dir/volumeplugins
END
  bin/kubelet --config=kubelet.yaml --kubeconfig=kubeconfig --root-dir="$dir/kubelet" --cert-dir="$dir/certs-kubelet" \
    --hostname-override=node --node-ip=$node > log/kubelet.log 2>&1 &
  cat > proxy.yaml << END
apiVersion: kubeproxy.config.k8s.io/v1alpha1
kind: KubeProxyConfiguration
mode: iptables
clientConnection: {kubeconfig: $dir/kubeconfig}
clusterCIDR: 10.244.0.0/24
conntrack: {maxPerCore: 0, min: 0, tcpEstablishedTimeout: 0s, tcpCloseWaitTimeout: 0s}
END
  bin/kube-proxy --config=proxy.yaml --hostname-override=node > log/kube-proxy.log 2>&1 &
  wait
}

"$@"
