#!/usr/bin/env bash
# Checks the model of the shared log's protocol with spin: every state of a small case, as many states of a larger one as
# a minute allows, and that a planted fault is found. Installs Debian's spin if it is missing.
set -euo pipefail
cd "$(dirname "$0")/.."

as_root() { if [ "$(id -u)" -eq 0 ]; then "$@"; else sudo "$@"; fi; }
if ! command -v spin >/dev/null; then
    as_root apt-get update -qq
    as_root env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq spin gcc >/dev/null
fi
model="$PWD/Scripts/models/shared-log.pml"
folder="$(mktemp -d)"
trap 'rm -rf "$folder"' EXIT
cd "$folder"

# check NAME COMPILER_FLAGS MODEL_FLAGS...: prints the numbers of states and errors.
check() {
    local name="$1" flags="$2"
    shift 2
    spin -a "$@" "$model" >/dev/null
    # shellcheck disable=SC2086
    gcc -w -O2 -DSAFETY $flags -o pan pan.c
    timeout --signal=INT 60 ./pan -m100000 >output 2>&1 || true
    printf '%s: %s\n' "$name" "$(grep -oE 'errors: [0-9]+' output || echo 'not to the end')"
    grep -E 'states, stored' output || tail -1 output
}
check "every state, one save each" -DCOLLAPSE -DSAVES=1 -DTRIES=2 -DWAY=1
grep -q 'errors: 0' output
check "two saves each" -DBITSTATE -DSAVES=2 -DTRIES=4 -DWAY=2
! grep -qE 'errors: [1-9]' output
check "a log that does not compare the end" -DCOLLAPSE -DFORGETS_ORDER -DSAVES=1 -DTRIES=2
grep -q 'errors: 1' output
echo "as expected"
