#!/usr/bin/env bash
# How long a file of Core Data takes to come over, and with how much memory: makes a file of a million rows, or of $2,
# and runs import, verify and check on it. Needs python3, and GNU time as /usr/bin/time.
set -euo pipefail
cd "$(dirname "$0")/.."
strata=${1:?the program, from a release build}
rows=${2:-1000000}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

python3 Scripts/coredata-file.py "$rows" "$work/File.sqlite"
run() {
    printf '%-28s' "$1"
    /usr/bin/time -f '%e s  %M KiB' "$strata" "${@:2}" 2>&1 >/dev/null | tail -1
}
run 'import --into' import "$work/File.sqlite" --into "$work/Store.strata"
run 'import --verify' import --verify "$work/File.sqlite" "$work/Store.strata"
run 'import --check' import --check "$work/File.sqlite"
run 'export --form coredata' export "$work/Store.strata" --form coredata "$work/Out.sqlite"
