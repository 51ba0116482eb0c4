#!/usr/bin/env bash
# schedules.sh PROGRAM COUNT FIRST_SEED: runs so many schedules of `SimulationTests` for either durability that survives
# power cuts, one process for each, and fails if a power cut takes what was acknowledged. A wrong one is repeated by
# `STRATA_SEED=<seed> STRATA_SCHEDULES=2 swift test --filter SimulationTests`.
set -uo pipefail
program="$1" count="$2" first="$3" batch=200
export SWIFT_BACKTRACE=enable=no
root="$(mktemp -d -p "$([ -w /dev/shm ] && echo /dev/shm || echo "${TMPDIR:-/tmp}")")"
trap 'kill $(jobs -p) 2>/dev/null; rm -rf "$root"' EXIT

# schedules DURABILITY: prints what is wrong.
schedules() {
    local seed="$first" end=$((first + count)) some folder="$root/$1" checked=0
    while [ "$seed" -lt "$end" ]; do
        some=$((end - seed < batch ? end - seed : batch))
        rm -rf "$folder" && mkdir -p "$folder"
        for work in simulate check; do
            if ! timeout 1200 "$program" "$work" "$folder" "$1" "$seed" "$some" 12 4 > "$folder.out" 2> "$folder.err"; then
                echo "$1: seeds from $seed on: $work ended with an error: $(tail -n 1 "$folder.err")"
            fi
        done
        grep ' wrong: ' "$folder.out" | sed "s/^/$1: seed /"
        checked=$((checked + $(grep -cE '^[0-9]+( wrong: .*)?$' "$folder.out")))
        seed=$((seed + some))
    done
    [ "$checked" -eq "$count" ] || echo "$1: only $checked of $count were checked"
}

for durability in full journaled; do schedules "$durability" > "$root/$durability.found" & done
wait
wrong=""
for durability in full journaled; do
    found="$(cat "$root/$durability.found")"
    printf '%s: %s schedules from seed %s on, %s power cuts: %s\n' "$durability" "$count" "$first" "$((count * 4))" \
        "${found:-nothing wrong}"
    wrong+="$found"
done
[ -z "$wrong" ]
