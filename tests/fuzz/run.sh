#!/usr/bin/env bash
# run.sh SECONDS [NAME…]: builds each fuzz target with clang and runs it on its seed corpus. What it finds stays
# in build/fuzz/NAME-findings, with the input that did it.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
seconds=${1:-60}
shift || true
cmake -S . -B build/fuzz -G Ninja -DCMAKE_BUILD_TYPE=Debug -DCMAKE_CXX_COMPILER=clang++ -DCMAKE_C_COMPILER=clang \
  -DCMAKE_CXX_FLAGS_DEBUG="-O1 -g" -DCAIRN_FUZZ=ON -DCAIRN_SANITIZE=address >/dev/null
ninja -C build/fuzz fuzzers | tail -1
targets=("$@")
[ ${#targets[@]} -gt 0 ] || mapfile -t targets < <(ls tests/fuzz/*_fuzz.cc | xargs -n1 basename | sed 's/_fuzz.cc$//')
for name in "${targets[@]}"; do
  mkdir -p "build/fuzz/$name-corpus" "build/fuzz/$name-findings"
  seeds=tests/fuzz/corpus/$name
  printf '   %-18s %s s: ' "$name" "$seconds"
  if "build/fuzz/tests/fuzz/${name}_fuzz" -max_total_time="$seconds" -max_len=8192 -timeout=10 -rss_limit_mb=2048 \
    -artifact_prefix="build/fuzz/$name-findings/" "build/fuzz/$name-corpus" $([ -d "$seeds" ] && echo "$seeds") \
    >"build/fuzz/$name.log" 2>&1; then
    grep -E '^Done|DONE' "build/fuzz/$name.log" | tail -1
  else
    echo "found something"
    tail -40 "build/fuzz/$name.log"
    exit 1
  fi
done
