# The stages of `./dev check`. ./dev reads this file; it has the set-up, the build and the messages.
#
# A stage is a function. Stages that compute follow each other in one lane. Stages that mostly wait, or that last a given time,
# run beside it in lanes of their own, with a lower priority. The crowd keeps its priority: it judges how long answers take.
# Stages that measure time run alone, at the end.
# The output of each stage is in build/check/STAGE.log.
stages_first='format release'
lane_1='tsan asan lint mutations pictures guards suites oracle'
lane_2='crowd chaos'
lane_3='stops contract bloat'
lane_4='simulation fuzz unit'
stages_alone='server recovery'
stages="$stages_first $lane_1 $lane_2 $lane_3 $lane_4 $stages_alone"

# amount FULL QUICK: how much of something; --quick takes the second.
amount() { if [ "${quick:-0}" -eq 1 ]; then echo "$2"; else echo "$1"; fi; }

# with_postgres COMMAND…: beside a throw-away server of its own.
with_postgres() {
  local folder=/tmp/cairn-pg-check-$$ code=0
  tests/postgres/throwaway.sh start "$folder" quick
  CAIRN_TEST_POSTGRES="postgresql:///cairn?host=$folder&user=cairn" "$@" || code=$?
  tests/postgres/throwaway.sh stop "$folder"
  return $code
}

# both COMMAND -- COMMAND: at the same time. Fails if one of them does.
both() {
  local first=()
  while [ "$1" != -- ]; do first+=("$1"); shift; done
  shift
  "${first[@]}" &
  local other=$! code=0
  "$@" || code=$?
  wait $other || code=$?
  return $code
}

# --- first ------------------------------------------------------------------------------------------------------------
stage_format() { git ls-files '*.cc' '*.h' | xargs clang-format --dry-run --Werror; }

# Hardening of the release binary, plain English in the documentation, comments and every --help; spelling and links.
stage_release() {
  build_release all
  tests/hardening.sh build/release/cairn
  python3 tests/docs/prose_lint.py . build/release/cairn
  python3 tests/docs/spell.py .
  python3 tests/docs/pages_test.py .
}

# --- what computes ----------------------------------------------------------------------------------------------------
# A debug build compiles each file alone: it shows that every file includes what it needs.
stage_lint() {
  configure_and_build debug cairn
  python3 tests/lint/tidy.py build/debug
}

# under SANITIZER: the whole suite. Its tests wait more than they compute, so there are more of them at once than processors.
# Reports of every process, also of those that a test starts and forgets, are collected in a folder that must stay empty.
under() {
  local code=0 reports=$PWD/build/check/$1-reports
  configure_and_build "$1" all
  mkdir -p "$reports"
  ASAN_OPTIONS=log_path=$reports/asan UBSAN_OPTIONS=print_stacktrace=1:log_path=$reports/ubsan \
    TSAN_OPTIONS=log_path=$reports/tsan:die_after_fork=0:history_size=4:suppressions=$PWD/tests/tsan.supp \
    ctest --test-dir "build/$1" --output-on-failure -j3 --timeout 900 || code=$?
  for report in "$reports"/*; do
    [ -f "$report" ] || continue
    code=1
    echo "== $report"
    head -60 "$report"
  done
  return $code
}
stage_asan() { under asan; }
stage_tsan() { under tsan; }

# A million mutated requests against the address sanitizer, in runs that one seed repeats.
stage_mutations() {
  configure_and_build asan cairn
  seq "$(amount 10 1)" | CAIRN_MUTATED_REQUESTS=$(amount 100000 2000) CAIRN_MUTATED_CONNECTIONS=64 xargs -P2 -I{} \
    env CAIRN_SEED={} python3 tests/http/mutated_test.py build/asan/cairn .
  CAIRN_TRUNCATED_STEP=$(amount 1 40) python3 tests/http/truncated_test.py build/asan/cairn .
}

# The long forms of the quick suites.
stage_suites() {
  CAIRN_MUTATIONS=$(amount 10000 100) build/release/tests/definitions/definitions_test --gtest_brief=1
  CAIRN_SEEDS=1..$(amount 20000 200) build/release/interpreter_test --gtest_brief=1 --gtest_filter='AdvanceProperty.*'
  CAIRN_RENDER_TREES=$(amount 10000 100) build/release/render_test --gtest_brief=1 --gtest_filter='Layout.*'
  python3 tests/schedules/dst_table.py build/release/tests/schedules/schedule_times --all
  CAIRN_OUTBOX_EVENTS=$(amount 100000 1000) with_postgres build/release/tests/outbox/outbox_order_test --gtest_brief=1
  CAIRN_FLIPS=$(amount 20000 50) build/release/tests/contract/contract_test --gtest_brief=1 --gtest_filter="DamagedFile.ABitThatFlips*"
  CAIRN_KILLS=$(amount 200 5) build/release/tests/kill9/kill9_test --gtest_brief=1
  tests/workers/lease_test.py build/release/cairn "$(amount 200 5)"
  tests/workers/ledger_test.py build/release/cairn "$(amount 2000 40)" "$(amount 60 3)"
}

# Random workflows and simulated worlds against the oracle.
stage_oracle() {
  python3 tests/sim/oracle/run_cases.py build/release/tests/sim/drive_cases --workflows 1.."$(amount 10000 1500)" \
    --environments "$(amount 3 1)" --processes "$(nproc)"
  build/release/tests/sim/cairn_sim --seeds 1.."$(amount 3000 100)" --quiet --records build/worlds.jsonl
  python3 tests/sim/oracle/check.py build/worlds.jsonl
}

# The same pictures from another compiler, and every diagram in Chromium.
stage_pictures() {
  if [ ! -f build/clang/build.ninja ]; then
    cmake -S . -B build/clang -G Ninja -DCMAKE_BUILD_TYPE=RelWithDebInfo -DCMAKE_CXX_COMPILER=clang++ -DCMAKE_C_COMPILER=clang \
      -DCAIRN_WERROR=OFF >/dev/null
  fi
  ninja -C build/clang render_test
  build/clang/render_test --gtest_brief=1 --gtest_filter='Golden.*'
  tests/render/chromium_test.py build/release/cairn .
  (cd console && CONSOLE_LOOKS=all CAIRN=../build/release/cairn node --test e2e/looks.test.mjs)
}

# Instructions of the hot path.
stage_guards() { bench/guards/check.sh build/release; }

# The targets with sanitizers, and every target for a moment without them.
stage_fuzz() {
  tests/fuzz/run.sh "$(amount 30 2)" expr_parse expr_eval definition json schema snapshot connection
  tests/fuzz/run.sh --fast "$(amount 5 1)"
}

# The systemd unit in a fresh Debian.
stage_unit() { python3 tests/deploy/boot_test.py build/release/cairn .; }

# --- what waits -------------------------------------------------------------------------------------------------------
# Half an hour on each store.
stage_crowd() {
  export CAIRN_CROWD_SECONDS CAIRN_CROWD_CLIENTS=32
  CAIRN_CROWD_SECONDS=$(amount 1800 40)
  both env CAIRN_CROWD_STORES=sqlite tests/http/crowd_test.py build/release/cairn . -- \
    with_postgres env CAIRN_CROWD_STORES=postgres tests/http/crowd_test.py build/release/cairn .
}

# Nodes and servers are killed under load.
stage_chaos() {
  CAIRN_CHAOS_WORKFLOWS=$(amount 2000 100) CAIRN_CHAOS_SECONDS=$(amount 1200 20) build/release/tests/postgres/chaos_test --gtest_brief=1
}

stage_simulation() { build/release/tests/sim/cairn_sim --minutes "$(amount 30 0.5)" --jobs 1; }

# Sizes under load.
stage_bloat() { CAIRN_BLOAT_MINUTES=$(amount 20 1) build/release/tests/postgres/bloat_test --gtest_brief=1; }

# Two hundred stops, half of them on each store.
stage_stops() {
  local stops node
  stops=$(amount 100 4) node=$(command -v node || echo -)
  both tests/workers/stop_test.py build/release/cairn build/release/tests/workers/stop_worker "$node" "$stops" -- \
    with_postgres env CAIRN_STOP_STORES=postgres tests/workers/stop_test.py build/release/cairn build/release/tests/workers/stop_worker "$node" "$stops"
}

# The conformance suite with everything opened again before each call, and thousands of orders of the statements of two nodes.
stage_contract() {
  with_postgres env CAIRN_TEST_LONG=1 build/release/tests/contract/contract_test --gtest_brief=1 --gtest_filter='*/postgres*'
  CAIRN_INTERLEAVINGS=$(amount 40 4) with_postgres build/release/tests/postgres/interleave_test --gtest_brief=1
}

# --- what measures time -----------------------------------------------------------------------------------------------
# The server from outside.
stage_server() {
  python3 tests/http/openapi_check.py build/release/cairn .
  python3 tests/http/crowd_check.py build/release/cairn .
  CAIRN_NOISY_FULL=1 CAIRN_NOISY_SECONDS=$(amount 20 5) python3 tests/http/noisy_viewer_test.py build/release/cairn .
  CAIRN_TAMPERINGS=$(amount 1000 20) python3 tests/http/tamper_test.py build/release/cairn .
  CAIRN_RESTARTS=$(amount 100 3) CAIRN_RESTART_DELAY=1s python3 tests/http/restart_test.py build/release/cairn .
  CAIRN_IDLE_CONNECTIONS=10000 python3 tests/http/idle_connections_test.py build/release/cairn .
}

# How soon work continues after restarts and after the loss of a primary.
stage_recovery() {
  CAIRN_RESTARTS=$(amount 20 1) build/release/tests/postgres/restart_test --gtest_brief=1
  CAIRN_FAILOVERS=$(amount 5 1) build/release/tests/postgres/failover_test --gtest_brief=1
}

# --- lanes ------------------------------------------------------------------------------------------------------------
# run_stage STAGE PRIORITY: adds a line to build/check/results. A stage that fails does not keep the others from running.
run_stage() {
  local began=$SECONDS code=0 log=build/check/$1.log
  say "$1 begins"
  # A shell of its own: -e holds there, which it would not to the left of `||`.
  quick=$quick nice -n "$2" bash -c 'set -euo pipefail; . ./dev; "stage_$0"' "$1" >"$log" 2>&1 </dev/null || code=$?
  printf '   %-11s %5d s  %s\n' "$1" $((SECONDS - began)) "$([ $code -eq 0 ] && echo passed || echo "failed, see $log")" | tee -a build/check/results
  [ $code -eq 0 ] || tail -25 "$log"
}

# run_lane PRIORITY STAGE…: those that were chosen, one after the other.
run_lane() {
  local priority=$1 stage
  shift
  for stage in "$@"; do
    [[ " $chosen " != *" $stage "* ]] || run_stage "$stage" "$priority"
  done
}

# Every two minutes the last line of each stage that is running.
show_progress() {
  local log
  while sleep 120; do
    for log in build/check/*.log; do
      grep -q "^   $(basename "$log" .log) " build/check/results || printf '      %-11s … %.120s\n' "$(basename "$log" .log)" "$(tail -c 400 "$log" | tr '\r' '\n' | grep . | tail -1)"
    done
  done
}

check_main() {
  local chosen=$stages from='' stage
  quick=0
  while [ $# -gt 0 ]; do
    case $1 in
      --planted) check_planted "${@:2}"; return ;;
      --quick) quick=1 ;;
      --from) from=${2:-}; shift ;;
      --only) chosen=${2:-}; shift ;;
      *) fail "check takes --quick, --planted, --from STAGE or --only \"STAGE…\"; the stages are: $stages" ;;
    esac
    shift
  done
  for stage in $from $chosen; do [[ " $stages " = *" $stage "* ]] || fail "there is no stage \"$stage\"; the stages are: $stages"; done
  [ -z "$from" ] || chosen="$from ${stages#*"$from"}"
  setup check
  build_release all
  rm -rf build/check
  mkdir -p build/check
  : >build/check/results
  local began=$SECONDS lanes=() progress
  show_progress &
  progress=$!
  run_lane 0 $stages_first
  run_lane 0 $lane_1 & lanes+=($!)
  run_lane 0 $lane_2 & lanes+=($!)
  run_lane 8 $lane_3 & lanes+=($!)
  run_lane 8 $lane_4 & lanes+=($!)
  wait "${lanes[@]}"
  run_lane 0 $stages_alone
  kill $progress 2>/dev/null || true
  say "stages, $(((SECONDS - began) / 60)) minutes"
  cat build/check/results
  ! grep -q ' failed' build/check/results || fail "failed: $(awk '/ failed/ { printf "%s ", $1 }' build/check/results)(one alone: ./dev check --only STAGE)"
  say "check passed"
}
