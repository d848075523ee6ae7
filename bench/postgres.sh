#!/usr/bin/env bash
# bench/postgres.sh [--quick] [BINARY]: the figures of the engine on PostgreSQL, in some three minutes. It measures one-wait beside the
# ceiling, W1 and W2, one and three nodes, bytes and WAL of each workflow, and signal to resumed beside a bare commit. It uses a
# throw-away server with fsync and synchronous_commit on and the settings that the peers are given. Run it on a machine
# that has nothing else to do.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
bench=build/release/bench/cairn-bench
length=(--seconds 2 --repeats 3)
for argument in "$@"; do
  case "$argument" in
    --quick) length=(--quick) ;;
    *) bench=$argument ;;
  esac
done
folder=$(mktemp -d "${TMPDIR:-/tmp}/cairn-postgres-figures-XXXXXX")
trap 'tests/postgres/throwaway.sh stop "$folder"' EXIT
tests/postgres/throwaway.sh start "$folder" durable
psql -h "$folder" -U cairn -d cairn -qAt -c "ALTER SYSTEM SET shared_buffers = '1GB'"
tests/postgres/throwaway.sh halt "$folder"
tests/postgres/throwaway.sh up "$folder"
psql -h "$folder" -U cairn -d cairn -qAt -c "SELECT version()" \
  -c "SELECT string_agg(name || ' ' || setting || coalesce(unit, ''), ', ') FROM pg_settings WHERE name IN ('fsync', 'synchronous_commit', 'full_page_writes', 'shared_buffers', 'max_wal_size')"
echo "load $(cut -d' ' -f1 /proc/loadavg) when it began"
"$bench" one-wait W1 W2 nodes --outstanding 64,256 "${length[@]}" --store "postgresql:///cairn?host=$folder&user=cairn"
