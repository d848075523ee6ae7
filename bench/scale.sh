#!/usr/bin/env bash
# bench/scale.sh DIR [SIZE…]: what single operations cost in stores with so many instances (1000 100000 1000000 10000000), as a table.
# Stores are made in DIR once (SQLite: 1.3 KiB an instance, some 10 000 instances a second) and kept: an interrupted run continues
# to fill them, and a second run only measures. With PG_URL (a server's URL without a database) they are databases scale_SIZE on that server instead.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
bench=${CAIRN_BENCH:-build/release/bench/cairn-bench}
folder=${1:?bench/scale.sh DIR [SIZE…]}
shift
sizes=("$@")
[ ${#sizes[@]} -gt 0 ] || sizes=(1000 100000 1000000 10000000)
rounds=${ROUNDS:-3}
mkdir -p "$folder"
store() { if [ -n "${PG_URL:-}" ]; then echo "$PG_URL/scale_$1"; else echo "sqlite:$folder/scale-$1.db"; fi; }
for size in "${sizes[@]}"; do
  if [ -n "${PG_URL:-}" ] && ! psql -qAt "$PG_URL/postgres" -c "SELECT 1 FROM pg_database WHERE datname = 'scale_$size'" | grep -q 1; then
    psql -q "$PG_URL/postgres" -c "CREATE DATABASE scale_$size"
  fi
  # Fills what is missing and takes a short look, so that every store is warm alike.
  "$bench" scale --store "$(store "$size")" --instances "$size" --repeats 1 --scale 0.05 --json >/dev/null
done
: >"$folder/measured.jsonl"
for _ in $(seq "$rounds"); do
  for size in "${sizes[@]}"; do
    "$bench" scale --store "$(store "$size")" --instances "$size" --repeats 1 --scale "${SCALE:-0.25}" --json 2>/dev/null >>"$folder/measured.jsonl"
  done
done
python3 - "$folder/measured.jsonl" <<'PY'
import json, statistics, sys
operations, sizes, runs = [], [], {}
for line in open(sys.argv[1]):
    for row in json.loads(line)["rows"]:
        operation, size = row["variant"], row["extra"]["instances"]
        if operation not in operations: operations.append(operation)
        if size not in sizes: sizes.append(size)
        runs.setdefault((operation, size), []).append(row)
def figure(operation, size, key):
    return statistics.median(row[key] for row in runs[operation, size])
def table(title, key, factor):
    print(f"\n{title}\n")
    print("| operation | " + " | ".join(f"{size:,}".replace(",", " ") for size in sizes) + " | last ÷ first |")
    print("|---|" + "--:|" * (len(sizes) + 1))
    for operation in operations:
        values = [figure(operation, size, key) * factor for size in sizes]
        if not values[0]: continue
        cells = [f"{value:.3g}" if value < 100 else f"{value:.0f}" for value in values]
        print(f"| {operation} | " + " | ".join(cells) + f" | {values[-1] / values[0]:.2f}× |")
table("Processor, µs an operation (of the database too)", "cpu_s_per_1000", 1000)
table("p50, ms (start and signal: 64 at a time)", "p50_ms", 1)
table("Log written, bytes an operation", "wal_bytes_each", 1)
PY
