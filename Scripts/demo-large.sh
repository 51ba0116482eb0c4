#!/usr/bin/env bash
# The Debian package index as a graph: an import with progress, then six questions, each with how it is answered. The
# index is the one that apt has here, or else the excerpt in Fixtures; STRATA_INDEX names another, compressed with gzip.
set -euo pipefail
cd "$(dirname "$0")/.."
strata=${1:?the program}
store=${2:?where the store goes}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

index() {
    local list
    if [ -n "${STRATA_INDEX:-}" ]; then
        gunzip -c "$STRATA_INDEX"
        return
    fi
    for list in /var/lib/apt/lists/*_main_binary-*_Packages*; do
        [ -e "$list" ] || continue
        case "$list" in
        *security* | *updates* | *backports*) continue ;;
        *.lz4 | *.gz | *.xz | *.zst) /usr/lib/apt/apt-helper cat-file "$list" && return ;;
        *) cat "$list" && return ;;
        esac
    done
    echo "apt has no package index here (apt-get update fetches it); this is an excerpt." >&2
    gunzip -c Fixtures/Debian/Packages.gz
}

bold='' faint='' plain=''
if [ -t 1 ]; then bold=$'\033[1m' faint=$'\033[2m' plain=$'\033[0m'; fi
say() { printf '\n%s\n' "$bold$*$plain"; }
# The command as one would type it, what it prints, and how long all of it took, the program's start included.
run() {
    local word line='strata'
    for word in "${@:2}"; do
        case "$word" in *[!A-Za-z0-9_.,=/-]*) line+=" '$word'" ;; *) line+=" $word" ;; esac
    done
    printf '%s\n' "$faint\$ ${line//$work\//}$plain"
    TIMEFORMAT='(%R s)'
    time "$@"
}
ask() {
    say "$1"
    run "$strata" query "$store" "${@:2}"
}
# A question, and how its objects were found.
explain() {
    ask "$@"
    "$strata" query "$store" "${@:2}" --explain | sed 's/^/    /'
}

index >"$work/Packages"
awk -f Scripts/debian-index.awk "$work/Packages" >"$work/packages.ndjson"
awk -v links=1 -f Scripts/debian-index.awk "$work/Packages" >"$work/links.ndjson"
rm -rf "$store"

say "A store of Xcode's model"
run "$strata" create "$store" --model Fixtures/Debian/Packages.xcdatamodel
say "Packages, with their sections and maintainers"
run "$strata" import "$store" Package "$work/packages.ndjson" \
    --map section=section.name --map maintainer=maintainer.name --missing create
before=$(date -u +%Y-%m-%dT%H:%M:%S.%3NZ)
say "Their dependencies; what only others provide becomes a package without a version"
run "$strata" import "$store" Dependency "$work/links.ndjson" --map from=from.name --map on=on.name --missing create

explain "1. What depends on liblmdb0?" Dependency --where 'on.name = "liblmdb0"' --columns from.name,constraint \
    --sort from.name
explain "2. The ten most depended-on packages" Dependency --group-by on.name --sort -count --limit 10
explain "3. Maintainers with over 500 packages" Maintainer --where 'packages.@count > 500' \
    --columns name,packages.@count --sort name
explain "4. Packages whose names begin with swift" Package --where 'name BEGINSWITH "swift"' \
    --columns name,version,summary --sort name
explain "5. Games that need SDL 2" Package \
    --where 'section.name = "games" AND ANY dependencies.on.name = "libsdl2-2.0-0"' --columns name,summary \
    --sort name --limit 10
explain "6. What LMDB's library looked like before the last import, and now" Package --where 'name = "liblmdb0"' \
    --columns name,version,dependencies.@count,dependants.@count --at "$before"
run "$strata" query "$store" Package --where 'name = "liblmdb0"' \
    --columns name,version,dependencies.@count,dependants.@count

say "What became of it all"
run "$strata" inspect "$store"
