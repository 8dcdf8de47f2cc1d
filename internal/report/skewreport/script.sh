#
# usage: bash FILE [--kubeconfig FILE] [--context NAME] [--yes] [--rollback]
#
# It is for one cluster and refuses any other. It asks before each step, tells what
# is done already, and stops at the first step that fails. Run it again at any time:
# it begins at the first step that isn't done. Before each update of the cluster
# verify judges again. It makes a folder of the cluster and the update; keep that:
# a rollback needs the files in it.
#
# --kubeconfig, --context  which cluster, as oc has them
# --yes       asks nothing, and stops where only a person can tell
# --rollback  undoes what this script has done, from the last step back to the first,
#             or to an update of the cluster that was begun, which has no way back
#
# OC=kubectl, BAKE=/path/bake and VERIFY=/path/verify name other programs. A value
# that is asked for can be given before: TO=4.20.3 bash FILE, and CLUSTER is the ID of
# the cluster where the plan has none. POLL is how many seconds are between two looks.
# WAIT=no waits for nothing: for a rehearsal on an API server that has no nodes.
set -uo pipefail
[ "${BASH_VERSINFO[0]}" -ge 4 ] || { echo "this is bash $BASH_VERSION, and 4 or newer is needed" >&2; exit 1; }

yes=no rollback=no
while [ $# -gt 0 ]; do
  case $1 in
  --yes) yes=yes ;;
  --rollback) rollback=yes ;;
  --kubeconfig=*) kubeconfig=${1#*=} ;;
  --context=*) context=${1#*=} ;;
  --kubeconfig | --context)
    [ $# -gt 1 ] || { echo "$1 has no value" >&2; exit 1; }
    declare "${1#--}=$2"
    shift
    ;;
  *)
    echo "unknown argument: $1 (--kubeconfig FILE, --context NAME, --yes, --rollback)" >&2
    exit 1
    ;;
  esac
  shift
done

# Below, the folder is another.
for name in OC BAKE VERIFY; do
  case ${!name-} in /*) ;; */*) declare "$name=$PWD/${!name}" ;; esac
done
for name in KUBECONFIG kubeconfig; do
  case ${!name-} in /* | *:* | "") ;; *) declare "$name=$PWD/${!name}" ;; esac
done
connection=()
[ -n "$kubeconfig" ] && connection+=("--kubeconfig=$kubeconfig")
[ -n "$context" ] && connection+=("--context=$context")
oc() { command "${OC:-$program}" ${connection[@]+"${connection[@]}"} "$@"; }
xargs() { command xargs "$1" "${OC:-$program}" ${connection[@]+"${connection[@]}"} "${@:3}"; } # -r oc: it runs no function
bake() { command "${BAKE:-bake}" "$@"; }
verify() { command "${VERIFY:-verify}" "$@" ${connection[@]+"${connection[@]}"}; }

steps=()
declare -A when what person note no_undo asks_first
step() {
  steps+=("$1")
  when[$1]=$2 what[$1]=$3 person[$1]=$4 note[$1]=$5 no_undo[$1]=$6 asks_first[$1]=$7
}

has() { declare -F "$1" >/dev/null; }

stop() {
  echo "stopped: $1. Run the script again to go on." >&2
  exit 3
}

# value NAME TEXT COMMAND asks for a value that isn't set yet.
value() {
  [ -n "${!1-}" ] && return
  [ "$yes" = yes ] && stop "$1 isn't set: $2"
  if [ -n "$3" ]; then
    echo "+ $3"
    eval "$3" || true
  fi
  read -r -p "$1, $2: " "${1?}" || stop "no answer"
  [ -n "${!1}" ] || stop "$1 isn't set"
  asked+=("$1")
  export "${1?}"
}

# forget takes the values back that were asked for: the next step's may be others.
asked=()
forget() {
  local name
  for name in ${asked[@]+"${asked[@]}"}; do unset "$name"; done
  asked=()
}

# confirm TEXT asks a person.
confirm() {
  [ "$yes" = yes ] && return
  local answer
  read -r -p "$1 [y/N] " answer || stop "no answer"
  case $answer in y | Y | yes) ;; *) stop "not confirmed" ;; esac
}

# Without pipefail: grep -q ends at its first match, and what writes to it fails then.
finished() { has "done_$1" && (set +o pipefail; "done_$1") >/dev/null 2>&1; }

# waits until a step's effect is there.
settle() {
  [ "${WAIT-}" = no ] && return
  if has "wait_$1"; then
    "wait_$1"
    [ $? = 0 ] || stop "waiting for step ${1/_/.} failed"
  fi
  until ! has "done_$1" || finished "$1"; do
    echo "  not yet; looking again in ${POLL:-30} s"
    sleep "${POLL:-30}"
  done
}

# carry_out FUNCTION shows the lines of a step, asks, and runs them.
carry_out() {
  declare -f "$1" | sed -e '1,3d;$d' -e 's/ )$//;s/;$//'
  confirm "  go on?"
  "$1"
}

forward() {
  echo
  echo "Step ${1/_/.}${when[$1]:+, ${when[$1]}}: ${what[$1]}"
  [ "${asks_first[$1]}" = true ] && "ask_$1"
  if finished "$1"; then
    echo "  done already"
    settle "$1"
    return
  fi
  [ -n "${note[$1]}" ] && echo "  ${note[$1]}"
  if [ -n "${person[$1]}" ]; then
    echo "  ${person[$1]}"
    [ "$yes" = yes ] && stop "step ${1/_/.} needs a person"
  fi
  if ! has "run_$1"; then
    confirm "  is it done?"
    settle "$1"
    return
  fi
  has "ask_$1" && "ask_$1"
  grep -qsxF -- "${what[$1]}" begun || echo "${what[$1]}" >> begun
  carry_out "run_$1"
  [ $? = 0 ] || stop "step ${1/_/.} failed"
  settle "$1"
}

# back undoes a step that this script has begun.
back() {
  grep -qsxF -- "${what[$1]}" begun || return 0
  [ -n "${no_undo[$1]}" ] && echo "Step ${1/_/.}, ${what[$1]}: no way back, ${no_undo[$1]}"
  has "undo_$1" || return 0
  echo
  echo "Undo step ${1/_/.}: ${what[$1]}"
  has "ask_$1" && "ask_$1"
  carry_out "undo_$1"
}

# STEPS
reached=$(oc get "$identity" -o "jsonpath=$id") && [ -n "$reached" ] || {
  echo "the cluster's ID can't be read: $program get $identity" >&2
  exit 1
}
cluster=${cluster:-${CLUSTER-}}
if [ -n "$cluster" ] && [ "$reached" != "$cluster" ]; then
  echo "this plan is for the cluster $cluster, and $program reaches $reached: give --kubeconfig or --context" >&2
  exit 1
fi
echo "Cluster $reached, with: $program ${connection[*]-}"
if [ -z "$cluster" ]; then
  [ "$yes" = no ] || stop "the plan was made without the cluster's ID: CLUSTER=$reached says that it is for this one"
  confirm "The plan was made without the cluster's ID. Is it for this cluster?"
fi
mkdir -p -- "$reached-$folder" && cd -- "$reached-$folder" || exit 1
echo "Files are in $PWD"

if [ "$rollback" = no ]; then
  for n in ${steps[@]+"${steps[@]}"}; do
    forward "$n"
    forget
  done
  echo
  echo "All steps are done."
  exit
fi
failed=()
for ((i = ${#steps[@]} - 1; i >= 0; i--)); do
  n=${steps[i]}
  if has "final_$n" && (set +o pipefail; "final_$n") >/dev/null; then
    echo
    echo "Step ${n/_/.}, ${what[$n]}: no way back, ${no_undo[$n]}. The rollback ends here, and what was done before stays"
    break
  fi
  back "$n"
  [ $? = 0 ] || failed+=("${n/_/.}") # behind || set -e would do nothing
  forget
done
echo
[ ${#failed[@]} = 0 ] || stop "undoing failed: ${failed[*]}"
# The next run saves the state that it begins from.
mv -- "$PWD" "$PWD-undone-$(date -u +%Y%m%dT%H%M%SZ)"
echo "All that has a way back is undone."
