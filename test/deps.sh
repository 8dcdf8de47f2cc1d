#!/usr/bin/env bash
# Sees to it that what make e2e runs is there: on Debian as root it installs the
# packages, elsewhere it says what to install. Nothing is skipped for lack of a tool.
set -euo pipefail

declare -A package=([git]=git [osslsigncode]=osslsigncode [openssl]=openssl [zstd]=zstd [tar]=tar [gzip]=gzip [gcc]=gcc [jq]=jq [etcd]=etcd-server [chromium]=chromium [wine]=wine [xorriso]=xorriso [mcopy]=mtools [ssh]=openssh-client [/usr/sbin/sshd]=openssh-server [promtool]=prometheus
  [podman]=podman [buildah]=buildah [skopeo]=skopeo [umoci]=umoci [docker-registry]=docker-registry [dockerd]=docker.io [npm]=npm [ansible-playbook]=ansible-core)
declare -A servers=([etcd-server]=etcd [prometheus]=prometheus [docker-registry]=docker-registry [openssh-server]=ssh [docker.io]="docker.socket docker")
command -v containerd >/dev/null || servers[docker.io]+=" containerd"
missing=()
for tool in "${!package[@]}"; do
  command -v "$tool" >/dev/null || missing+=("${package[$tool]}")
done
[ ${#missing[@]} -eq 0 ] && exit 0

if [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null; then
  echo "installing: ${missing[*]}" >&2
  apt-get update -qq
  DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "${missing[@]}" >/dev/null
  # Debian starts a server of its own with some packages; the tests start theirs,
  # and of prometheus want promtool alone.
  if [ -d /run/systemd/system ]; then
    for p in "${missing[@]}"; do
      [ -z "${servers[$p]:-}" ] || systemctl disable --now -q ${servers[$p]}
    done
  fi
else
  echo "the tests need: ${missing[*]}" >&2
  echo "fix: install these packages and run again" >&2
  exit 1
fi
