#!/usr/bin/env bash
# bench/figures.sh [--quick] [BINARY]: all our figures in one run of some six minutes, as a table in
# bench/results/DATE-kernel.md.
# Run it on a machine that has nothing else to do; the first line of the table says how busy it was.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
quick=0
bench=build/release/bench/cairn-bench
for argument in "$@"; do
  case "$argument" in
    --quick) quick=1 ;;
    *) bench=$argument ;;
  esac
done
results=bench/results
mkdir -p "$results"
name=$(date -u +%Y-%m-%d)-kernel
[ $quick -eq 0 ] || name=quick
out=$results/$name.md
folder=$(mktemp -d "${TMPDIR:-/tmp}/cairn-figures-XXXXXX")
trap 'rm -rf "$folder"' EXIT
run() {  # run TITLE ARGUMENT…
  local title=$1
  shift
  printf '\n## %s\n\n`cairn-bench %s`\n\n```\n' "$title" "$*" >>"$out"
  if [ $quick -eq 1 ]; then set -- "$@" --quick; fi
  "$bench" "$@" --dir "$folder" >>"$out"
  printf '```\n' >>"$out"
}
{
  echo "# Figures of $name"
  echo
  echo "$(build/release/cairn version 2>/dev/null | head -1), $(uname -srm), $(nproc) × $(sed -n 's/^model name[^:]*: //p' /proc/cpuinfo | head -1), load $(cut -d' ' -f1 /proc/loadavg) when it began."
  echo "SQLite with synchronous=FULL on $(df --output=fstype "$folder" | tail -1). Medians; the range of all runs beside them."
} >"$out"
run "The kernel and the ceiling, in process" one-wait five-checkpoints --outstanding 1,64,256 --seconds 1.5 --repeats 5
run "Workers in the same process" W1 W2 --outstanding 1,16,64,256 --seconds 1
run "Signals, tasks" W3 W7 --outstanding 1,64,256 --seconds 1
run "Jobs" W5 --seconds 1.5
run "Timers due at one instant" W4 --repeats 3
run "Waiting instances" W6 --seconds 5
run "Recovery after kill -9" W8
run "Through HTTP: server, worker and client are processes of their own" http-one-wait http-W1 http-W2 http-W7 --outstanding 1,64,256 --seconds 1
run "In memory, for comparison" one-wait W1 W3 --store memory --outstanding 1,64 --seconds 1 --repeats 1
cat "$out"
echo "written to $out" >&2
