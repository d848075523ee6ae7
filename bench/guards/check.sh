#!/usr/bin/env bash
# check.sh BUILD [--update]: instructions of the hot path under callgrind, against bench/guards/instructions.txt. More than
# 5 % above fails; --update writes what is measured now. Instructions do not depend on how busy the machine is, but on the
# compiler: the file says which one it was.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
build=${1:?usage: check.sh BUILD [--update]}
update=${2:-}
limits=bench/guards/instructions.txt
rounds=200
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
failed=0
: >"$work/new"
for name in start advance expression snapshot_encode snapshot_decode commit_building commit_queue; do
  valgrind --tool=callgrind --callgrind-out-file="$work/$name.out" --toggle-collect=measured \
    "$build/bench/instruction_guard" $name $rounds >"$work/$name.log" 2>&1 || { cat "$work/$name.log"; exit 1; }
  now=$(($(sed -n 's/^.*Collected *: *\([0-9]*\).*$/\1/p' "$work/$name.log") / rounds))
  known=$(sed -n "s/^$name \([0-9]*\)$/\1/p" "$limits" 2>/dev/null || true)
  echo "$name $now" >>"$work/new"
  if [ -z "$known" ]; then
    printf '%-16s %8d instructions, no figure yet\n' $name $now
    [ -n "$update" ] || failed=1
  else
    change=$(awk -v a=$now -v b=$known 'BEGIN { printf "%+.1f %%", (a - b) * 100 / b }')
    verdict=ok
    if [ $((now * 100)) -gt $((known * 105)) ]; then verdict="more than 5 % above"; [ -n "$update" ] || failed=1; fi
    printf '%-16s %8d instructions, was %8d: %s, %s\n' $name $now $known "$change" "$verdict"
  fi
done
if [ -n "$update" ]; then
  { echo "# Instructions for one round, $(c++ --version | head -1), -O2. Written by check.sh --update."; cat "$work/new"; } >"$limits"
fi
exit $failed
