#!/bin/sh
# Compares expression evaluation with CEL for JavaScript: bench/expr/compare.sh [BUILD_DIRECTORY]
# Needs node and a release build with Google Benchmark. BENCH_SECONDS sets the time for each figure.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
build=${1:-$here/../../build}
bench=$build/bench/expr_compare_bench
[ -x "$bench" ] || bench=$build/expr_compare_bench
if [ ! -x "$bench" ]; then
  echo "no expr_compare_bench in $build: build it first (ninja -C $build expr_compare_bench)" >&2
  exit 1
fi
[ -d "$here/node_modules" ] || (cd "$here" && npm ci --ignore-scripts --no-audit --no-fund >/dev/null)
exec node "$here/compare.mjs" "$bench"
