#!/usr/bin/env bash
# long.sh BUILD: the long forms of the tests on PostgreSQL, some 90 minutes.
# - the conformance suite, with everything opened again before each call
# - 6 000 orders of the statements of two nodes
# - kills of nodes, servers and primaries under load
# - a crowd of clients for half an hour
# - sizes over 20 minutes
set -euo pipefail
here=$(dirname "${BASH_SOURCE[0]}") build=$1
folder=/tmp/cairn-pg-long-$$
"$here/throwaway.sh" start "$folder" quick
trap '"$here/throwaway.sh" stop "$folder"' EXIT
export CAIRN_TEST_POSTGRES="postgresql:///cairn?host=$folder&user=cairn"
CAIRN_TEST_LONG=1 "$build/tests/contract/contract_test" --gtest_brief=1 --gtest_filter='*/postgres*'
CAIRN_OUTBOX_EVENTS=100000 "$build/tests/outbox/outbox_order_test" --gtest_brief=1 --gtest_filter='*OnPostgres'
CAIRN_INTERLEAVINGS=40 "$build/tests/postgres/interleave_test"
# 500 stops on each store.
"$here/../workers/stop_test.py" "$build/cairn" "$build/tests/workers/stop_worker" "$(command -v node || echo -)" 1000
# 15 minutes on each store.
CAIRN_CROWD_SECONDS=900 CAIRN_CROWD_CLIENTS=64 "$here/../http/crowd_test.py" "$build/cairn" "$here/../.."
# These have servers of their own.
CAIRN_CHAOS_WORKFLOWS=2000 CAIRN_CHAOS_SECONDS=3600 "$build/tests/postgres/chaos_test" --gtest_brief=1
CAIRN_RESTARTS=20 "$build/tests/postgres/restart_test" --gtest_brief=1
"$build/tests/postgres/failover_test" --gtest_brief=1
CAIRN_BLOAT_MINUTES=20 "$build/tests/postgres/bloat_test" --gtest_brief=1
