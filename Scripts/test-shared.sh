#!/usr/bin/env bash
# Starts a PostgreSQL of its own on a socket in a temporary directory, runs a command with its address in STRATA_POSTGRES,
# such as the tests of shared logs, and stops it.
# Installs Debian's PostgreSQL if there is none.
set -euo pipefail
cd "$(dirname "$0")/.."

as_root() { if [ "$(id -u)" -eq 0 ]; then "$@"; else sudo "$@"; fi; }

programs() { ls -d /usr/lib/postgresql/*/bin 2>/dev/null | sort -V | tail -1; }
if [ -z "$(programs)" ] && ! command -v initdb >/dev/null; then
    echo "Installing PostgreSQL ..."
    as_root apt-get update -qq
    # No cluster of the system's, which would start with it.
    as_root mkdir -p /etc/postgresql-common
    [ -e /etc/postgresql-common/createcluster.conf ] \
        || echo "create_main_cluster = false" | as_root tee /etc/postgresql-common/createcluster.conf >/dev/null
    as_root env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq postgresql >/dev/null
fi
bin="$(programs)"
[ -n "$bin" ] || bin="$(dirname "$(command -v initdb)")"

# With STRATA_POSTGRES_NETWORK the server is in this namespace of networks, and listens there.
if [ -n "${STRATA_POSTGRES_NETWORK:-}" ]; then
    network="ip netns exec $STRATA_POSTGRES_NETWORK"
    listen="*"
else
    network=""
    listen=""
fi

# PostgreSQL does not run as root.
folder="$(mktemp -d /tmp/strata-postgres-XXXXXX)"

# With STRATA_POSTGRES_MEGABYTES the server has a disk of that size, and a file on it makes room when it is deleted.
# A connection that says nothing keeps the server from ending for that long.
settings="-c authentication_timeout=3"
initial=""
if [ -n "${STRATA_POSTGRES_MEGABYTES:-}" ]; then
    as_root mount -t tmpfs -o "size=${STRATA_POSTGRES_MEGABYTES}m,mode=755" strata "$folder"
    initial="--wal-segsize=1"
    settings="$settings -c max_wal_size=4MB -c min_wal_size=2MB -c shared_buffers=4MB"
    export STRATA_POSTGRES_BALLAST="$folder/ballast"
fi
if [ "$(id -u)" -eq 0 ]; then
    chown postgres "$folder"
    server() { $network setpriv --reuid=postgres --regid=postgres --init-groups env -C "$folder" "$@"; }
else
    server() { env -C "$folder" "$@"; }
fi
stop() {
    status=$?
    if [ "$status" -ne 0 ] && [ -e "$folder/log" ]; then
        printf '\nWhat the server said at the end:\n' >&2
        tail -n 40 "$folder/log" >&2
    fi
    server "$bin/pg_ctl" -D "$folder/data" -m immediate -w stop >/dev/null 2>&1 || true
    [ -z "${STRATA_POSTGRES_BALLAST:-}" ] || as_root umount --lazy "$folder"
    rm -rf "$folder"
}
trap stop EXIT
server "$bin/initdb" -D "$folder/data" -A trust -U strata $initial --no-sync --no-instructions >/dev/null
# A role that needs a password, for the tests of passwords.
server sed -i '1i local all strata_password scram-sha-256' "$folder/data/pg_hba.conf"
export STRATA_POSTGRES_ROLE=strata_password
[ -z "$network" ] || echo "host all all 10.213.0.0/16 trust" >>"$folder/data/pg_hba.conf"
# For the tests of encrypted connections: an address that only this machine reaches, and a certificate for it.
if [ -z "$network" ] && [ "$(uname)" = Linux ] && command -v openssl >/dev/null; then
    listen="127.$((RANDOM % 250 + 1)).$((RANDOM % 250 + 1)).$((RANDOM % 250 + 1))"
    server openssl req -x509 -newkey rsa:2048 -nodes -days 2 -subj "/CN=strata" -addext "subjectAltName=IP:$listen" \
        -keyout "$folder/data/server.key" -out "$folder/data/server.crt" 2>/dev/null
    server sed -i 's/^host  *\(.*127.0.0.1\)/hostssl \1/' "$folder/data/pg_hba.conf"
    settings="$settings -c ssl=on"
    chmod 755 "$folder"
    cp "$folder/data/server.crt" "$folder/server.crt"
    export STRATA_POSTGRES_ENCRYPTED="host=$listen user=strata dbname=postgres"
    export STRATA_POSTGRES_CERTIFICATE="$folder/server.crt"
fi
# A file of libpq's for services, for the tests of addresses.
printf '[strata-tests]\nhost=%s\nuser=strata\ndbname=postgres\n' "$folder" >"$folder/services"
export PGSERVICEFILE="$folder/services"
server "$bin/pg_ctl" -D "$folder/data" -l "$folder/log" -w \
    -o "-k $folder -c listen_addresses=$listen -c max_connections=300 $settings" start >/dev/null

[ -z "${STRATA_POSTGRES_BALLAST:-}" ] || head -c 12M /dev/zero >"$STRATA_POSTGRES_BALLAST"

# Ends the server as a crash does, and starts it again; for tests.
if [ "$(id -u)" -eq 0 ]; then as="setpriv --reuid=postgres --regid=postgres --init-groups"; else as=""; fi
cat >"$folder/restart" <<END
#!/bin/bash
cd "$folder"
# The server must not keep what its starter waits on.
for file in /proc/self/fd/*; do [ "\${file##*/}" -le 2 ] || eval "exec \${file##*/}>&-"; done
exec $network $as "$bin/pg_ctl" -D "$folder/data" -l "$folder/log" -m immediate -w \\
    -o "-k $folder -c listen_addresses=$listen -c max_connections=300 $settings" restart >/dev/null
END
chmod +x "$folder/restart"
export STRATA_POSTGRES_RESTART="$folder/restart"
export STRATA_POSTGRES="postgresql:///postgres?host=$folder&user=strata"
"$@"
