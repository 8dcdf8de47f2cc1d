#
# usage: bash FILE [--yes] [--rollback]
#
# It asks before each step, tells what is done already, and stops at the first
# step that fails. Run it again at any time: it begins at the first step that
# isn't done. Keep its folder: files that a rollback needs are written there.
#
# --yes       asks nothing, and stops where only a person can tell
# --rollback  goes from the last step back to the first
#
# OC=kubectl, BAKE=/path/bake and VERIFY=/path/verify name other programs. A value
# that is asked for can be given before: TO=4.20.3 bash FILE. POLL is how many
# seconds are between two looks. WAIT=no waits for nothing: for a rehearsal on an
# API server that has no nodes.
set -uo pipefail
[ "${BASH_VERSINFO[0]}" -ge 4 ] || { echo "this is bash $BASH_VERSION, and 4 or newer is needed" >&2; exit 1; }

oc() { command "${OC:-oc}" "$@"; }
xargs() { command xargs "$1" "${OC:-oc}" "${@:3}"; } # -r oc: it runs no function
bake() { command "${BAKE:-bake}" "$@"; }
verify() { command "${VERIFY:-verify}" "$@"; }

yes=no rollback=no
for arg in "$@"; do
  case $arg in
  --yes) yes=yes ;;
  --rollback) rollback=yes ;;
  *)
    echo "unknown argument: $arg (--yes, --rollback)" >&2
    exit 1
    ;;
  esac
done

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

# carry_out FUNCTION NAME shows the lines of a step, asks, and runs them.
carry_out() {
  declare -f "$1" | sed -e '1,3d;$d' -e 's/ )$//;s/;$//'
  confirm "  go on?"
  "$1"
  [ $? = 0 ] || stop "$2 failed"
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
  carry_out "run_$1" "step ${1/_/.}"
  settle "$1"
}

back() {
  [ -n "${no_undo[$1]}" ] && echo "Step ${1/_/.}, ${what[$1]}: no way back, ${no_undo[$1]}"
  has "undo_$1" || return
  echo
  echo "Undo step ${1/_/.}: ${what[$1]}"
  has "ask_$1" && "ask_$1"
  carry_out "undo_$1" "undoing step ${1/_/.}"
}

# STEPS
if [ "$rollback" = yes ]; then
  for ((i = ${#steps[@]} - 1; i >= 0; i--)); do
    back "${steps[i]}"
    forget
  done
else
  for n in ${steps[@]+"${steps[@]}"}; do
    forward "$n"
    forget
  done
fi
echo
[ "$rollback" = yes ] && echo "All that has a way back is undone." || echo "All steps are done."
