#!/usr/bin/env bash
# Installs LMDB's headers if they are missing.
set -euo pipefail
if pkg-config --exists lmdb 2>/dev/null || [ -e /usr/include/lmdb.h ]; then exit 0; fi
as_root() { if [ "$(id -u)" -eq 0 ]; then "$@"; else sudo "$@"; fi; }
if command -v apt-get >/dev/null; then
    echo "Installing liblmdb-dev ..."
    as_root apt-get update -qq
    as_root env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq liblmdb-dev pkg-config >/dev/null
elif command -v brew >/dev/null; then
    brew install lmdb pkg-config
else
    echo "Please install LMDB with its headers (liblmdb-dev) and pkg-config." >&2
    exit 1
fi
