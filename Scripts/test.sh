#!/usr/bin/env bash
# Runs the test suite, and repeats the failures at the end of the output.
set -uo pipefail
cd "$(dirname "$0")/.."
output="$(mktemp)"
trap 'rm -f "$output"' EXIT
# All tests begin at once unless told otherwise, and what a test waits for then comes after all others.
# The whole help is read first: a pipe into `grep -q` ends `swift test` early, which pipefail takes for a failure.
width=()
help="$(swift test --help-hidden 2>/dev/null)"
case "$help" in
    *--experimental-maximum-parallelization-width*) width=(--experimental-maximum-parallelization-width 4) ;;
esac
swift test --skip-build ${width[@]+"${width[@]}"} "$@" 2>&1 | tee "$output"
status=$?
if [ "$status" -ne 0 ]; then
    printf '\nWhat failed:\n'
    # Each issue with the lines of its comment; known issues are left out.
    grep -A 6 -E '^✘ |Fatal error|unexpected signal' "$output" | grep -v -E '^[✔◇]|recorded a known issue'
fi
exit "$status"
