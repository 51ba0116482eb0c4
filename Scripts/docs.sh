#!/usr/bin/env bash
# Builds the documentation as a static site with the toolchain's docc, and fails at a warning: a link or a symbol that
# does not resolve, a page that is wrong. Usage: Scripts/docs.sh [DIRECTORY]
set -euo pipefail
cd "$(dirname "$0")/.."
site="${1:-.build-docs}"
scratch="$(mktemp -d)"
trap 'rm -rf "$scratch"' EXIT

swift build --target Strata
swift build --target StrataXcode
products="$(swift build --show-bin-path)"
triple="$(swiftc -print-target-info | sed -n 's/.*"triple": "\(.*\)",/\1/p' | head -1)"
sdk=()
if command -v xcrun >/dev/null; then sdk=(-sdk "$(xcrun --show-sdk-path)"); fi
docc="$(dirname "$(readlink -f "$(command -v swift)")")/docc"
[ -x "$docc" ] || docc="$(xcrun --find docc)"
# The modules that `import Strata` brings with it: the site shows their symbols as an app sees them, under Strata.
exported="$(sed -n 's/^@_exported public import //p' $(find Sources -name "*.swift") | sort -u | paste -s -d , -)"

# symbols MODULE: writes the public symbols of a module, with their doc comments.
symbols() {
    mkdir -p "$scratch/$1"
    swift-symbolgraph-extract -module-name "$1" -target "$triple" "${sdk[@]}" -I "$products/Modules" \
        -Xcc "-fmodule-map-file=$PWD/Sources/CLMDB/module.modulemap" \
        -Xcc "-fmodule-map-file=$products/CChecksum.build/module.modulemap" \
        -experimental-allowed-reexported-modules="$exported" \
        -minimum-access-level public -skip-synthesized-members -output-dir "$scratch/$1"
}

# convert MODULE [CATALOG]: makes the archive of a module.
convert() {
    "$docc" convert ${2:+"$2"} --additional-symbol-graph-dir "$scratch/$1" --warnings-as-errors \
        --fallback-display-name "$1" --fallback-bundle-identifier "strata.$1" \
        --fallback-default-module-kind Library --output-dir "$scratch/$1.doccarchive"
}

symbols Strata
symbols StrataXcode
convert Strata Sources/Strata/Strata.docc
convert StrataXcode
rm -rf "$site"
"$docc" merge "$scratch/Strata.doccarchive" "$scratch/StrataXcode.doccarchive" \
    --synthesized-landing-page-name Strata --output-path "$site"
echo "The documentation is in $site; to read it: python3 -m http.server --directory $site 8000,"
echo "then open http://localhost:8000/documentation/strata"
