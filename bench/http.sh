#!/usr/bin/env bash
# bench/http.sh [BINARY]: the server over HTTP with wrk at 64 connections, and what it weighs. Some three minutes; prints a table.
# Run it on a machine that has nothing else to do: wrk and the server share it.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
binary=$(realpath "${1:-build/release/cairn}")
seconds=${CAIRN_BENCH_SECONDS:-15}
command -v wrk >/dev/null || { echo "bench/http.sh needs wrk" >&2; exit 1; }
folder=$(mktemp -d "${TMPDIR:-/tmp}/cairn-http-XXXXXX")
server=
finish() {
  [ -z "$server" ] || kill "$server" 2>/dev/null || true
  rm -rf "$folder"
}
trap finish EXIT
ulimit -n 65536 2>/dev/null || ulimit -n "$(ulimit -Hn)"

cat >"$folder/wait.yaml" <<'YAML'
cairn: 1
name: bench.wait
version: 1.0.0
steps: [ { signal: { name: go } } ]
YAML
cat >"$folder/quick.yaml" <<'YAML'
cairn: 1
name: bench.quick
version: 1.0.0
state: { n: = input.n }
steps: [ { set: { n: = state.n + 1 } } ]
output: { n: = state.n }
YAML
key=$("$binary" keys create --store "sqlite:$folder/cairn.db" --subject bench --role admin 2>/dev/null)
"$binary" serve --store "sqlite:$folder/cairn.db" --listen 127.0.0.1:0 --log-level error --http-connections-max 20000 \
  --deploy "$folder/wait.yaml,$folder/quick.yaml" >"$folder/said" &
server=$!
url=
for _ in $(seq 100); do
  url=$(sed -n 's/^cairn serves on //p' "$folder/said")
  [ -z "$url" ] || break
  sleep 0.1
done
[ -n "$url" ] || { echo "the server did not start" >&2; exit 1; }
resident() { awk '/^VmRSS/ { printf "%.1f MiB", $2 / 1024 }' "/proc/$server/status"; }
at_start=$(resident)

instance=$(curl -sf -H "authorization: Bearer $key" -H 'content-type: application/json' -d '{"definition":"bench.wait"}' "$url/v1/instances" |
  sed 's/.*"id":"\([^"]*\)".*/\1/')
post() { printf 'wrk.method = "POST"\nwrk.body = [[%s]]\nwrk.headers["content-type"] = "application/json"\n' "$1"; }
headers='wrk.headers["authorization"] = "Bearer '$key$'"\n'
printf "$headers" >"$folder/get.lua"
{ printf "$headers"; post '{"definition":"bench.wait"}'; } >"$folder/start.lua"
{ printf "$headers"; post '{"definition":"bench.quick","input":{"n":1}}'; } >"$folder/quick.lua"

echo "$("$binary" version | head -1), $(nproc) × $(sed -n 's/^model name[^:]*: //p' /proc/cpuinfo | head -1), SQLite with synchronous=FULL, wrk on the same machine,"
echo "64 connections, $seconds s each, load $(cut -d' ' -f1 /proc/loadavg) when it began."
echo
echo "| request | per second | p50 | p99 | not 2xx |"
echo "| --- | ---: | ---: | ---: | ---: |"
measure() {  # measure TITLE SCRIPT PATH
  wrk -t2 -c64 -d3s -s "$folder/$2" "$url$3" >/dev/null
  wrk -t2 -c64 "-d${seconds}s" --latency -s "$folder/$2" "$url$3" | awk -v title="$1" '
    /Requests\/sec/ { rate = $2 } $1 == "50%" { half = $2 } $1 == "99%" { most = $2 } /Non-2xx/ { wrong = $NF }
    END { printf "| %s | %.0f | %s | %s | %d |\n", title, rate, half, most, wrong }'
}
measure '`GET /v1/instances/{id}`' get.lua "/v1/instances/$instance"
measure '`POST /v1/instances`, one wait' start.lua /v1/instances
measure '`POST /v1/instances?wait=10s`, no wait in it' quick.lua '/v1/instances?wait=10s'
after=$(resident)

# Idle connections that have each been answered once.
python3 - "${url##*:}" "$folder/ready" <<'PY' &
import os, socket, sys, time
port, ready = int(sys.argv[1]), sys.argv[2]
crowd = []
for _ in range(10_000):
    one = socket.create_connection(("127.0.0.1", port))
    one.sendall(b"GET /livez HTTP/1.1\r\nHost: localhost\r\n\r\n")
    crowd.append(one)
for one in crowd:
    one.recv(4096)
open(ready, "w").close()
while os.path.exists(ready):
    time.sleep(0.1)
PY
crowd=$!
for _ in $(seq 600); do
  [ ! -e "$folder/ready" ] || break
  sleep 0.1
done
held=$(curl -sf -H "authorization: Bearer $key" "$url/metrics" | awk '$1 == "cairn_http_connections" { print $2 }')
crowded=$(resident)
rm -f "$folder/ready"
wait "$crowd"
strip -o "$folder/stripped" "$binary"
echo
echo "| what | how much |"
echo "| --- | ---: |"
echo "| resident memory at start | $at_start |"
echo "| after the load | $after |"
echo "| with $held connections | $crowded |"
echo "| binary, stripped | $(awk -v bytes="$(stat -c %s "$folder/stripped")" 'BEGIN { printf "%.1f MiB", bytes / 1048576 }') |"
kill "$server"
wait "$server" && server=
