#!/usr/bin/env bash
# Runs the test of partitions with each store in a network of its own, and PostgreSQL in another: links go down, packets
# are lost in one direction, and with the kernel's netem they are late and doubled. Needs root and Linux; says so otherwise.
#
#     make test-shared-network PARTITION_ROUNDS=300
set -euo pipefail
cd "$(dirname "$0")/.."

if [ "$(id -u)" -ne 0 ] || ! ip netns add strata-probe 2>/dev/null; then
    echo "Namespaces of networks are not permitted here, so this test did not run."
    exit 0
fi
ip netns del strata-probe

remove() {
    for name in strata-server strata-0 strata-1 strata-2; do ip netns del "$name" 2>/dev/null || true; done
}
remove
trap remove EXIT
ip netns add strata-server
ip -n strata-server link set lo up
for number in 0 1 2; do
    ip netns add "strata-$number"
    ip -n "strata-$number" link set lo up
    ip link add "strata$number" netns strata-server type veth peer name eth0 netns "strata-$number"
    ip -n strata-server addr add "10.213.$number.1/24" dev "strata$number"
    ip -n strata-server link set "strata$number" up
    ip -n "strata-$number" addr add "10.213.$number.2/24" dev eth0
    ip -n "strata-$number" link set eth0 up
done
STRATA_POSTGRES_NETWORK=strata-server STRATA_NETWORKS=strata Scripts/test-shared.sh "$@"
