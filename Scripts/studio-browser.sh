#!/usr/bin/env bash
# studio-browser.sh COMMAND...: runs a command that drives Chromium by Playwright, after it has seen to both.
#
# Chromium is STUDIO_CHROMIUM (/usr/bin/chromium by default; Debian's package `chromium` is installed if it is missing).
# Playwright and axe-core-python come from PyPI. If one of them cannot be had, the command is not run, and this says so
# and fails; with STUDIO_BROWSER=optional it says so and succeeds.
set -uo pipefail
chromium=${STUDIO_CHROMIUM:-/usr/bin/chromium}

not_run() {
    echo "NOT RUN: the tests of Studio's pages need $1." >&2
    [ "${STUDIO_BROWSER:-}" = optional ] && exit 0
    exit 1
}

if [ ! -x "$chromium" ] && [ -z "${STUDIO_CHROMIUM:-}" ]; then
    sudo=$([ "$(id -u)" = 0 ] || echo sudo)
    { $sudo apt-get install -y --no-install-recommends chromium fonts-dejavu-core || {
        $sudo apt-get update && $sudo apt-get install -y --no-install-recommends chromium fonts-dejavu-core
    }; } >/dev/null 2>&1
fi
[ -x "$chromium" ] || not_run "Chromium, which is not at $chromium and cannot be installed here (STUDIO_CHROMIUM names another)"

has_packages() { python3 -c 'import playwright, axe_core_python' 2>/dev/null; }
has_packages || python3 -m pip install --quiet playwright axe-core-python >/dev/null 2>&1
has_packages || not_run "the Python packages playwright and axe-core-python, which cannot be installed here"

export STUDIO_CHROMIUM=$chromium
exec "$@"
