#!/usr/bin/env bash
# hardening.sh BINARY…: every shipped binary has the hardening that its flags promise.
set -euo pipefail
failed=0
expect() { # WHAT COMMAND…: the command must succeed
  local what=$1
  shift
  if ! "$@" >/dev/null 2>&1; then
    echo "$binary: $what is missing" >&2
    failed=1
  fi
}
[ $# -gt 0 ] || { echo "usage: $0 BINARY…" >&2; exit 2; }
for binary in "$@"; do
  header=$(readelf -hW "$binary")
  segments=$(readelf -lW "$binary")
  dynamic=$(readelf -dW "$binary")
  symbols=$(readelf --dyn-syms -W "$binary")
  expect "PIE" grep -q 'Type: *DYN' <<<"$header"
  expect "RELRO" grep -q GNU_RELRO <<<"$segments"
  expect "BIND_NOW" grep -qE 'BIND_NOW|Flags:.*NOW' <<<"$dynamic"
  expect "a stack that is not executable" grep -qE 'GNU_STACK.* RW ' <<<"$segments"
  expect "stack protection" grep -q __stack_chk_fail <<<"$symbols"
  expect "fortified functions" grep -qE '__[a-z]+_chk' <<<"$symbols"
  # Debian's start-up objects carry no CET note, so the linked file cannot either: look at the code itself.
  expect "control-flow protection" grep -q endbr64 <<<"$(objdump -d --disassemble=main "$binary")"
  if grep -qE 'RPATH|RUNPATH' <<<"$dynamic"; then
    echo "$binary: has a RPATH" >&2
    failed=1
  fi
done
[ $failed -eq 0 ] && echo "hardening: $# binary checked"
exit $failed
