#!/usr/bin/env bash
# bench/compare.sh [--quick] [--fresh] [BOUT…]: our workloads and those of other engines in turn, on private servers, as tables and a
# chart in bench/results and in the README, a table in docs/performance.md. Half an hour with three rounds, some five minutes with --quick. An interrupted run continues where it
# stopped (bench/peers/out). Run it on a machine that has nothing else to do.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
export CAIRN=${CAIRN:-$PWD/build/release/cairn}
export PGBIN=${PGBIN:-/usr/lib/postgresql/15/bin}
[ -x "$PGBIN/postgres" ] || { echo "bench: PostgreSQL is not in $PGBIN (say PGBIN=…)" >&2; exit 1; }
command -v redis-server >/dev/null || { echo "bench: redis-server is missing" >&2; exit 1; }
fresh_enough() { "$1" -e 'const [a, b] = process.versions.node.split(".").map(Number); process.exit(a > 22 || (a === 22 && b >= 18) ? 0 : 1)' 2>/dev/null; }
if ! fresh_enough node; then
  # The peers need a newer Node than Debian's; the npm package of that name brings one.
  [ -x build/node24/node_modules/node/bin/node ] || npm install --prefix build/node24 --no-audit --no-fund node@24 >/dev/null
  export PATH=$PWD/build/node24/node_modules/node/bin:$PATH
fi
# Not `npm ci`: the lock names optional packages of other platforms, which a mirror need not have.
[ -d bench/peers/node_modules/pg ] || (cd bench/peers && npm install --no-audit --no-fund --no-save)
cd bench/peers
export DATA_DIR
DATA_DIR=$(mktemp -d "${DATA_PARENT:-${TMPDIR:-/tmp}}/cairn-compare-XXXXXX")
. ./servers.sh
start_servers
finish() {
  stop_servers
  rm -rf "$DATA_DIR"
}
trap finish EXIT
code=0
node compare.mjs "$@" || code=$?
quick=
for flag in "$@"; do [ "$flag" != --quick ] || quick=--quick; done
[ $code -eq 130 ] || node results.mjs $quick
exit $code
