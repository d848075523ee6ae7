#!/usr/bin/env bash
# A PostgreSQL server for tests, in a folder of its own, on a unix socket there, gone afterwards.
#   throwaway.sh start FOLDER [quick|durable]   quick: without fsync, for suites that ask what is written
#   throwaway.sh up FOLDER                      starts it again after a stop or a kill
#   throwaway.sh kill FOLDER                    kill -9 of all of it
#   throwaway.sh halt FOLDER [fast|immediate]   stops it, the data stays
#   throwaway.sh stop FOLDER                    stops it and removes the folder
# Its URL is postgresql:///cairn?host=FOLDER&user=cairn. PostgreSQL refuses to run as root, so root lends the
# folder to an unprivileged user.
set -euo pipefail

verb=$1 folder=$2
bin=$(ls -d /usr/lib/postgresql/*/bin 2>/dev/null | sort -V | tail -1)
[ -x "${bin:-}/initdb" ] || { echo "throwaway: PostgreSQL is not installed" >&2; exit 1; }

as_owner() {
  if [ "$(id -u)" -ne 0 ]; then "$@"; return; fi
  local user=nobody
  if id postgres >/dev/null 2>&1; then user=postgres; fi
  # Not from a folder that the user may not read.
  (cd / && exec runuser -u "$user" -- "$@")
}

up() {
  as_owner "$bin/pg_ctl" -D "$folder/data" -l "$folder/log" -w -t 60 -s start >/dev/null </dev/null
}

halt() {
  as_owner "$bin/pg_ctl" -D "$folder/data" -m "${1:-immediate}" -s stop >/dev/null 2>&1 || true
}

case $verb in
  start)
    [ -d "$folder/data" ] && { halt; rm -rf "$folder"; }
    mkdir -p "$folder"
    if [ "$(id -u)" -eq 0 ]; then chown "$(id -u postgres 2>/dev/null || id -u nobody)" "$folder"; fi
    chmod 755 "$folder"
    as_owner "$bin/initdb" -D "$folder/data" -U cairn -A trust -E UTF8 --locale=C --no-sync >/dev/null
    {
      echo "listen_addresses = ''"
      echo "unix_socket_directories = '$folder'"
      echo "max_connections = 200"
      echo "shared_buffers = 128MB"
      echo "max_wal_size = 1GB"
      echo "shared_preload_libraries = 'pg_stat_statements'"
      [ "${3:-quick}" = durable ] || printf 'fsync = off\nfull_page_writes = off\nsynchronous_commit = off\n'
    } | as_owner tee -a "$folder/data/postgresql.conf" >/dev/null
    up
    as_owner "$bin/createdb" -h "$folder" -U cairn cairn
    ;;
  up) up ;;
  kill)
    main=$(head -1 "$folder/data/postmaster.pid" 2>/dev/null || true)
    [ -n "$main" ] || exit 0
    # Stopped first, so that it starts no child while they are counted. All of them die: a new server refuses to
    # start as long as one is attached to the old one's memory.
    kill -STOP "$main" 2>/dev/null || true
    all="$main $(pgrep -P "$main" | tr '\n' ' ' || true)"
    kill -9 $all 2>/dev/null || true
    for process in $all; do
      # A process that has ended but was not waited for yet (Z) holds nothing any more.
      while state=$(sed 's/.*) //' "/proc/$process/stat" 2>/dev/null) && [ "${state:0:1}" != Z ]; do :; done
    done
    # A dead one that init has not buried yet still looks alive to pg_ctl.
    rm -f "$folder/data/postmaster.pid" "$folder"/.s.PGSQL.*
    ;;
  halt) halt "${3:-fast}" ;;
  stop)
    halt
    rm -rf "$folder"
    ;;
  *) echo "throwaway: what is $verb?" >&2; exit 2 ;;
esac
