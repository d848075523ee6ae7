#!/usr/bin/env bash
# The long forms: the conformance suite with everything opened again before each call and 6 000 orders of the
# statements of two nodes.   long.sh BUILD
set -euo pipefail
here=$(dirname "${BASH_SOURCE[0]}") build=$1
folder=/tmp/cairn-pg-long-$$
"$here/throwaway.sh" start "$folder" quick
trap '"$here/throwaway.sh" stop "$folder"' EXIT
export CAIRN_TEST_POSTGRES="postgresql:///cairn?host=$folder&user=cairn"
CAIRN_TEST_LONG=1 "$build/tests/contract/contract_test" --gtest_brief=1 --gtest_filter='*/postgres*'
CAIRN_OUTBOX_EVENTS=100000 "$build/tests/outbox/outbox_order_test" --gtest_brief=1 --gtest_filter='*OnPostgres'
CAIRN_INTERLEAVINGS=40 "$build/tests/postgres/interleave_test"
