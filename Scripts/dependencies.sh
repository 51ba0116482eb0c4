#!/usr/bin/env bash
# Installs LMDB's headers if they are missing, and those of SQLite when called with `sqlite` (the benchmarks' peer).
set -euo pipefail

as_root() { if [ "$(id -u)" -eq 0 ]; then "$@"; else sudo "$@"; fi; }

# need NAME HEADER DEBIAN_PACKAGE BREW_PACKAGE
need() {
    if pkg-config --exists "$1" 2>/dev/null || [ -e "/usr/include/$2" ]; then return; fi
    if command -v apt-get >/dev/null; then
        echo "Installing $3 ..."
        as_root apt-get update -qq
        as_root env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq "$3" pkg-config >/dev/null
    elif command -v brew >/dev/null; then
        brew install "$4" pkg-config
    else
        echo "Please install $3 and pkg-config." >&2
        exit 1
    fi
}

need lmdb lmdb.h liblmdb-dev lmdb
if [ "${1:-}" = sqlite ]; then need sqlite3 sqlite3.h libsqlite3-dev sqlite; fi
