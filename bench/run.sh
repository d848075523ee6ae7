#!/usr/bin/env bash
# bench/run.sh [--quick]: every benchmark of the release build, and expressions and diagrams beside what others do, in one
# run. Prints tables; run it when the machine is idle. With --peers: the comparison with other engines instead.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
time=1
quick=
peers=0
for flag in "$@"; do
  case "$flag" in
    --quick) time=0.1 quick=--quick ;;
    --peers) peers=1 ;;
    *) echo "bench: unknown flag $flag (--peers, --quick)" >&2; exit 2 ;;
  esac
done
[ $peers -eq 0 ] || exec bench/compare.sh $quick
bench/figures.sh $quick
for program in build/release/bench/*_bench; do
  [ "$(basename "$program")" = expr_compare_bench ] && continue
  echo "== $(basename "$program")"
  "$program" --benchmark_min_time=$time 2>/dev/null
done
if command -v node >/dev/null; then
  echo "== expressions beside CEL for JavaScript"
  BENCH_SECONDS=$time bench/expr/compare.sh build/release
fi
