#!/usr/bin/env bash
# run.sh [--built] [--fast] SECONDS [NAME…]: builds each fuzz target with clang and runs it on its seed corpus. What it
# finds stays in build/fuzz/NAME-findings, with the input that did it. A run with a finding is not counted; the other
# targets still run. --fast: optimized and without sanitizers, on short inputs, for many executions (build/fuzz-fast).
# --built: runs what is built already. JOBS=N limits the build to N compilers.
# run.sh --merge: adds what the runs found new to tests/fuzz/corpus, reduced to the inputs that reach something new.
# run.sh --count: the executions of all runs of this checkout, per target. Each run adds its own to build/fuzz.tsv.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
record=build/fuzz.tsv

count() {
  awk -F'\t' '{ runs[$4 "\t" $3] += $5; total += $5 }
    END { for (key in runs) print key "\t" runs[key] | "sort"; close("sort"); print "total\t\t" total }' "$record"
}

# Inputs longer than this are rare in the fast runs: a short one reaches nearly everything, at many times the speed.
fast_len() {
  case $1 in
    expr_eval | filter_text | formats | schema | svg | toml | traceparent | yaml) echo 128 ;;
    cloud_event | connection | excerpt | http_call | inbound_hook | jwt | message_body | request_head | signature) echo 256 ;;
    definition | jwks | page_checksum | snapshot) echo 512 ;;
    *) echo 64 ;;
  esac
}

build() {
  [ $built -eq 0 ] || return 0
  local flags=(-DCMAKE_BUILD_TYPE=Release -DCMAKE_CXX_FLAGS_RELEASE="-O2 -g1")
  [ "$variant" = fast ] || flags=(-DCMAKE_BUILD_TYPE=Debug -DCMAKE_CXX_FLAGS_DEBUG="-O1 -g1" -DCAIRN_SANITIZE=address)
  cmake -S . -B "$folder" -G Ninja -DCMAKE_CXX_COMPILER=clang++ -DCMAKE_C_COMPILER=clang -DCAIRN_FUZZ=ON \
    -DBUILD_TESTING=OFF -DCAIRN_CONSOLE=OFF "${flags[@]}" >/dev/null
  ninja --quiet ${JOBS:+-j"$JOBS"} -C "$folder" "${@/%/_fuzz}"
}

run_one() {
  local name=$1 len=8192 seeds=tests/fuzz/corpus/$1 executions
  [ "$variant" = sanitizers ] || len=$(fast_len "$name")
  mkdir -p "build/fuzz/$name-corpus" "build/fuzz/$name-findings" "$seeds"
  printf '   %-18s %s s: ' "$name" "$seconds"
  if ! "$folder/tests/fuzz/${name}_fuzz" -max_total_time="$seconds" -max_len="$len" -timeout=60 -rss_limit_mb=2048 -print_final_stats=1 \
    -reload=0 -artifact_prefix="build/fuzz/$name-findings/" "build/fuzz/$name-corpus" "$seeds" >"$folder/$name.log" 2>&1; then
    echo "found something"
    tail -40 "$folder/$name.log"
    found=1
    return
  fi
  executions=$(sed -n 's/^stat::number_of_executed_units: *//p' "$folder/$name.log")
  echo "$executions executions"
  printf '%s\t%s\t%s\t%s\t%s\t%s\n' "$(date -u +%FT%TZ)" "$(git rev-parse --short HEAD)" "$variant" "$name" "$executions" "$seconds" >>"$record"
}

# Inputs that reach something that no kept one reaches. A corpus that belongs to another test (a link) stays as it is.
merge_one() {
  local name=$1 kept=tests/fuzz/corpus/$1
  [ ! -L "$kept" ] || return 0
  "$folder/tests/fuzz/${name}_fuzz" -set_cover_merge=1 -max_len=4096 -timeout=10 "$kept" "build/fuzz/$name-corpus" >"$folder/$name-merge.log" 2>&1
  printf '   %-18s %s inputs\n' "$name" "$(ls "$kept" | wc -l)"
}

all_targets() {
  for name in $(ls tests/fuzz/*_fuzz.cc | xargs -n1 basename | sed 's/_fuzz.cc$//'); do
    if [ $built -eq 0 ] || [ -x "$folder/tests/fuzz/${name}_fuzz" ]; then echo "$name"; fi
  done
}

variant=sanitizers folder=build/fuzz built=0
if [ "${1:-}" = --built ]; then built=1; shift; fi
case "${1:-}" in
  --count) count; exit ;;
  --merge | --fast) variant=fast folder=build/fuzz-fast ;;
esac
if [ "${1:-}" = --merge ]; then
  mapfile -t targets < <(all_targets)
  build "${targets[@]}"
  for name in "${targets[@]}"; do merge_one "$name"; done
  exit
fi
if [ "${1:-}" = --fast ]; then shift; fi
seconds=${1:-60}
shift || true
targets=("$@")
[ ${#targets[@]} -gt 0 ] || mapfile -t targets < <(all_targets)
build "${targets[@]}"
found=0
for name in "${targets[@]}"; do run_one "$name"; done
exit $found
