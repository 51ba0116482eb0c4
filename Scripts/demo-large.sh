#!/usr/bin/env bash
# The Debian package index as a graph: an import with progress, then six questions. The index is the one that apt has
# here, or else the excerpt in Fixtures.
set -euo pipefail
cd "$(dirname "$0")/.."
strata=${1:?the program}
store=${2:?where the store goes}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

index() {
    local list
    for list in /var/lib/apt/lists/*_main_binary-*_Packages*; do
        [ -e "$list" ] || continue
        case "$list" in
        *security* | *updates* | *backports*) continue ;;
        *.lz4 | *.gz | *.xz | *.zst) /usr/lib/apt/apt-helper cat-file "$list" && return ;;
        *) cat "$list" && return ;;
        esac
    done
    gunzip -c Fixtures/Debian/Packages.gz
}

index >"$work/Packages"
awk -f Scripts/debian-index.awk "$work/Packages" >"$work/packages.ndjson"
awk -v links=1 -f Scripts/debian-index.awk "$work/Packages" >"$work/links.ndjson"
rm -rf "$store"
"$strata" create "$store" --model Fixtures/Debian/Packages.xcdatamodel

say() { printf '\n\033[1m%s\033[0m\n' "$*"; }
timed() { if [ -x /usr/bin/time ]; then /usr/bin/time -f '%e s, %M KiB of memory' "$@"; else "$@"; fi; }

say "Packages, with their sections and maintainers"
timed "$strata" import "$store" Package "$work/packages.ndjson" \
    --map section=section.name --map maintainer=maintainer.name --missing create
say "Their dependencies; what only others provide becomes a package without a version"
timed "$strata" import "$store" Dependency "$work/links.ndjson" --map from=from.name --map on=on.name --missing create

ask() {
    say "$1"
    shift
    timed "$strata" query "$store" "$@"
}
ask "What depends on liblmdb0?" Dependency --where 'on.name = "liblmdb0"' --columns from.name,constraint --sort from.name
ask "The ten most depended-on packages" Dependency --group-by on.name --sort -count --limit 10
ask "Maintainers with over 500 packages" Maintainer --where 'packages.@count > 500' --columns name,packages.@count \
    --sort name
ask "Packages whose names begin with swift" Package --where 'name BEGINSWITH "swift"' --columns name,version,summary \
    --sort name
ask "Games that need SDL 2" Package --where 'section.name = "games" AND ANY dependencies.on.name = "libsdl2-2.0-0"' \
    --columns name,summary --sort name --limit 10
ask "How that is found" Package --where 'section.name = "games" AND ANY dependencies.on.name = "libsdl2-2.0-0"' --explain
say "Dependencies before the last import: as of the transaction with the last package"
last=$("$strata" log "$store" --entity Package --kind inserted --property summary --reverse --limit 1 --json |
    sed 's/.*"transaction":\([0-9]*\).*/\1/')
"$strata" count "$store" Dependency --at "t$last"
"$strata" count "$store" Dependency
