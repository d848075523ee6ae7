#!/usr/bin/env bash
# bench/flame.sh [NAME…]: flame graphs of W1 and W2 in process at 64 outstanding, on SQLite and (with PG_URL, an empty database) on
# PostgreSQL, into build/flame. Needs perf, and the rights to use it.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
bench=${CAIRN_BENCH:-build/release/bench/cairn-bench}
folder=$(mktemp -d "${TMPDIR:-/tmp}/cairn-flame-XXXXXX")
trap 'rm -rf "$folder"' EXIT
mkdir -p build/flame
picture() {  # picture NAME TITLE WORKLOAD STORE
  # DWARF: the release build keeps no frame pointers. 8 KiB of stack reach through the interpreter.
  perf record -q -F 397 --call-graph dwarf,8192 -o "$folder/$1.data" \
    "$bench" "$3" --store "$4" --outstanding 64 --seconds 4 --repeats 1 --dir "$folder" >/dev/null 2>&1
  perf script --no-inline -i "$folder/$1.data" -F comm,tid,ip,sym,dso 2>/dev/null | bench/flame.py "$2" >"build/flame/$1.svg"
  rm -f "$folder/$1.data"
}
picture w1-sqlite "W1, one worker call, in process, SQLite, 64 outstanding" W1 sqlite
picture w2-sqlite "W2, five worker calls, in process, SQLite, 64 outstanding" W2 sqlite
if [ -n "${PG_URL:-}" ]; then
  picture w1-postgres "W1, one worker call, in process, PostgreSQL (the client's side), 64 outstanding" W1 "$PG_URL"
  picture w2-postgres "W2, five worker calls, in process, PostgreSQL (the client's side), 64 outstanding" W2 "$PG_URL"
fi
