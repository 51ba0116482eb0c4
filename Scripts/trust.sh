#!/usr/bin/env bash
# Runs the campaigns against a store for so many minutes, with seeds that no run has had, and writes what came of them to
# Tests/TRUST.md. The tests must be built. Linux only; power cuts need root.
set -uo pipefail
cd "$(dirname "$0")/.."
# Stores that share a log need a server. Where PostgreSQL is not installed their campaigns are left out.
if [ -z "${STRATA_POSTGRES:-}" ] && ls /usr/lib/postgresql/*/bin/initdb >/dev/null 2>&1; then
    exec Scripts/test-shared.sh Scripts/trust.sh "$@"
fi
minutes="${1:-5}"
begin="$(date +%s)"
seed="${STRATA_FIRST_SEED:-$begin}"
first_seed="$seed"
bin="$(swift build --show-bin-path)"
logs="$(mktemp -d)"
trap 'rm -rf "$logs"' EXIT
export SWIFT_BACKTRACE=enable=no
build="$(git rev-parse --short HEAD)$(git diff --quiet HEAD || printf ' with changes')"
rows=""
failed=0

# suites FILTER: runs suites by their names, with what the environment says; the output goes to a file.
suites() {
    "$bin/StrataPackageTests.xctest" --testing-library swift-testing --no-parallel --filter "$1" 2>&1 \
        | sed 's/\x1b\[[0-9;]*m//g' > "$logs/output"
    return "${PIPESTATUS[0]}"
}

# row WHAT COUNT RUNS SEEDS FAILURES
row() {
    rows+="| $1 | $2 | $3 | $4 |"$'\n'
    printf '%s: %s, seeds %s, %s\n' "$1" "$2" "$3" "$4"
}

# campaign WHAT PART COUNT SEEDS FILTER [VARIABLE=VALUE...]: repeats it for a part of the time, in hundredths, and at least
# once. A run tries so many and takes so many seeds, from STRATA_SEED on.
campaign() {
    local what="$1" part="$2" count="$3" seeds="$4" filter="$5"
    shift 5
    local until=$(($(date +%s) + minutes * 60 * part / 100)) runs=0 wrong="" from="$seed"
    while [ "$runs" -eq 0 ] || [ "$(date +%s)" -lt "$until" ]; do
        if ! env STRATA_SEED="$seed" "$@" bash -c "$(declare -f suites); bin='$bin' logs='$logs' suites '$filter'"; then
            wrong+=" $seed"
            cp "$logs/output" "/tmp/strata-trust-$seed.log"
        elif ! grep -qE '^✔ Test [^ ]+\(.* passed' "$logs/output"; then
            row "$what" "not possible here" "-" "-"
            return
        fi
        runs=$((runs + 1))
        seed=$((seed + seeds))
    done
    local result="nothing wrong"
    if [ -n "$wrong" ]; then
        failed=1
        result="**wrong with seeds$wrong**"
    fi
    row "$what" "$((runs * count))" "$from to $((seed - 1))" "$result"
}

# Every call that writes, syncs or names a file fails once: refused, half done, or done and denied.
faults() {
    local number=0 calls result="nothing wrong" runs=()
    for manner in "28 0" "5 1" "5 2"; do
        number=$((number + 1))
        mkdir "$logs/faults-$number"
        # shellcheck disable=SC2086 # two arguments
        "$bin/store-fault-child" sweep "$logs/faults-$number" $manner > "$logs/faults-$number.output" 2>&1 &
        runs+=("$!")
    done
    for run in "${runs[@]}"; do
        if ! wait "$run"; then
            failed=1
            result="**wrong**"
        fi
    done
    calls="$(grep -hoE '[0-9]+ calls' "$logs"/faults-*.output | awk '{sum += $1} END {print sum + 0}')"
    row "calls of the system that fail once (\`FaultTests\`)" "$calls" "-" "$result"
}

campaign "planted faults, eleven kinds, each found (\`PlantedFaultTests\`, \`BeforeImageTests\`)" 0 11 1 \
    'PlantedFaultTests|BeforeImageTests'
faults
campaign "states after a power cut, made of recorded writes (\`CrashImageTests\`)" 16 2200 1 \
    CrashImageTests STRATA_IMAGES=100
campaign "states after a power cut in compactions, erasures and copies (\`UpkeepImageTests\`)" 6 1400 1 \
    UpkeepImageTests STRATA_IMAGES=40
campaign "schedules of contexts on a disk that fails, four power cuts of each (\`SimulationTests\`)" 14 100 100 \
    SimulationTests STRATA_SCHEDULES=100
campaign "damaged stores, read whole and saved on (\`DamageTests\`)" 8 200 1 \
    StrataStoreTests.DamageTests STRATA_IMAGES=200
campaign "kills of writers, rebuilds, backups and migrations (\`CrashTests\`)" 12 70 1 \
    StrataStoreTests.CrashTests STRATA_KILLS=40
campaign "kills of truncations, upgrades, erasures and compactions (\`TruncationCrashTests\`, \`ErasureCrashTests\`, \`CompactionKillTests\`)" \
    6 80 1 'TruncationCrashTests|ErasureCrashTests|CompactionKillTests' STRATA_KILLS=20
campaign "power cuts of a disk (\`PowerCutTests\`)" 8 40 1 PowerCutTests STRATA_CUTS=20
campaign "kills of stores that share a log, and of its server (\`SharedKillTests\`)" 8 20 1 \
    SharedKillTests STRATA_KILL_ROUNDS=20
campaign "partitions between stores and their shared log (\`SharedPartitionTests\`)" 6 40 1 \
    SharedPartitionTests STRATA_PARTITION_ROUNDS=40
campaign "runs of the random suites against their oracles (\`Random…\`, \`…Oracle…\`)" 10 1 1 'Random|OracleTests'

cat > Tests/TRUST.md <<PAGE
# What was tried last

Written by \`make trust\` (an hour) or \`make trust-quick\` (five minutes); do not edit. A line with a seed that is wrong is
repeated with \`STRATA_SEED=<seed>\` and the variables in \`Scripts/trust.sh\`.

- Date: $(date -u '+%Y-%m-%d %H:%M') UTC, $((($(date +%s) - begin + 59) / 60)) minutes
- Build: $build, debug, $(swift --version 2> /dev/null | grep -oE 'Swift version [0-9.]+' | head -1)
- System: $(uname -sr), $(nproc) processors
- Seeds: from $first_seed on

| what | how many | seeds | result |
|---|---|---|---|
$rows
PAGE
printf '%s\n' "$([ "$failed" -eq 0 ] && echo 'Nothing wrong' || echo 'Something is wrong'); see Tests/TRUST.md."
exit "$failed"
