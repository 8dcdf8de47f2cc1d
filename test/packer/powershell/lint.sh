#!/usr/bin/env bash
# Holds every PowerShell script of this repository, and of the templates that
# it writes, to a grammar. The parser comes from npm at the versions of
# package-lock.json, without running anything of theirs, into the user's cache.
set -euo pipefail
cd "$(dirname "$0")"

command -v npm >/dev/null || { echo "the PowerShell grammar needs npm: install Node.js" >&2; exit 1; }
cache=${XDG_CACHE_HOME:-$HOME/.cache}/winbake-test/powershell-$(sha256sum package-lock.json | cut -c1-8)
if [ ! -e "$cache/done" ]; then
  mkdir -p "$cache"
  cp package.json package-lock.json "$cache"
  npm ci --prefix "$cache" --ignore-scripts --no-audit --no-fund --silent
  touch "$cache/done"
fi
cd ../../..
mapfile -t scripts < <(git ls-files --cached --others --exclude-standard '*.ps1' '*.psm1')
exec node test/packer/powershell/lint.mjs "$cache" "${scripts[@]}"
