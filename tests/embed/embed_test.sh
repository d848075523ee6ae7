#!/usr/bin/env bash
# embed_test.sh SOURCE BUILD COMPILER: installs the package into a folder of its own, builds examples/embed against it
# with CMake and with pkg-config, and runs both. Compiles the example of engine.h, every header alone, and own_parts.cc.
set -euo pipefail
source=$1 build=$2 compiler=$3
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

cmake --install "$build" --prefix "$work/cairn" --component engine >"$work/install.log" || { cat "$work/install.log"; exit 1; }
if grep -rlE '#include "(base|instance|definition|store)/' "$work/cairn/include"; then
  echo "these installed headers include what is only in the tree" >&2
  exit 1
fi
expected='completed {"at":"Friday","parcels":2,"receipt":"R-A-17"}'
check() {  # check PROGRAM: a first run that starts the order, a second that finds it
  local store=sqlite:$1.db got run
  for run in started found; do
    got=$("$1" "$store" "$source/examples/embed/order.yaml" 2>"$work/said")
    grep -q "^$run order" "$work/said" || { echo "expected an order to be $run:" >&2; cat "$work/said" >&2; exit 1; }
    [ "$got" = "$expected" ] || { echo "got $got" >&2; cat "$work/said" >&2; exit 1; }
  done
}

cp -r "$source/examples/embed" "$work/order"  # away from the tree, so that nothing of it is found by accident
(cd "$work/order" && cmake -S . -B build -DCMAKE_PREFIX_PATH="$work/cairn" -DCMAKE_CXX_COMPILER="$compiler" && cmake --build build) \
  >"$work/cmake.log" 2>&1 || { cat "$work/cmake.log"; exit 1; }
check "$work/order/build/order"

PKG_CONFIG_PATH=$(dirname "$(find "$work/cairn" -name cairn.pc)")
export PKG_CONFIG_PATH
# shellcheck disable=SC2046
"$compiler" -std=c++20 "$work/order/main.cc" $(pkg-config --cflags --libs cairn) -o "$work/by-pkg-config"
check "$work/by-pkg-config"

# The example at the top of engine.h compiles unchanged, with the two functions that it leaves to the reader.
{
  printf '%s\n' '#include <cairn/engine.h>' 'cairn::WorkDone charge(const cairn::Json&);' 'int fail(const std::string&);' 'int example() {'
  awk '/^#pragma once/ { exit } sub("^//   ", "")' "$work/cairn/include/cairn/engine.h"
  printf '%s\n' 'return 0;' '}'
} >"$work/example.cc"
grep -q 'engine.start(' "$work/example.cc" || { echo "engine.h has no example at its top" >&2; exit 1; }
# shellcheck disable=SC2046
"$compiler" -std=c++20 -Wall -Werror -Wno-unused-variable -fsyntax-only $(pkg-config --cflags cairn) "$work/example.cc"
# Every installed header compiles alone, and cites nothing that is only in the tree.
include=$work/cairn/include
(cd "$include" && find cairn -name '*.h') | sort >"$work/headers"
for internal in cairn/instance/snapshot.h cairn/store/rows.h cairn/definition/program.h; do
  if grep -qx "$internal" "$work/headers"; then echo "$internal is internal, but it is installed" >&2; exit 1; fi
done
while read -r header; do
  printf '#include <%s>\n' "$header" >"$work/alone.cc"
  # shellcheck disable=SC2046
  "$compiler" -std=c++20 -Wall -Wextra -Werror -fsyntax-only $(pkg-config --cflags cairn) "$work/alone.cc" || { echo "$header does not compile alone" >&2; exit 1; }
done <"$work/headers"
if grep -rnE 'docs/|[a-z]\.md\b|\(rule [A-Z]+[0-9]+|ADR [0-9]' "$include"; then
  echo "these comments cite documents that are not installed" >&2
  exit 1
fi

# A program with a definition, a transport and a sink of its own, beside its own SQLite.
# shellcheck disable=SC2046
"$compiler" -std=c++20 -Wall -Wextra -Werror "$source/tests/embed/own_parts.cc" $(pkg-config --cflags --libs cairn) -o "$work/own-parts"
"$work/own-parts"
library=$(find "$work/cairn" -name libcairn.a)
if nm --defined-only --extern-only "$library" 2>/dev/null | grep -E ' [A-Z] sqlite3'; then
  echo "libcairn.a defines functions of SQLite under their own names" >&2
  exit 1
fi

# The installed command has no symbols.
cmake --install "$build" --prefix "$work/command" --component command >"$work/install.log" || { cat "$work/install.log"; exit 1; }
"$work/command/bin/cairn" version >/dev/null
if [ "$(nm "$work/command/bin/cairn" 2>/dev/null | wc -l)" -ne 0 ]; then echo "the installed command is not stripped" >&2; exit 1; fi
echo "cairn is $(stat -c %s "$work/command/bin/cairn") bytes"
echo "installed, built with CMake and with pkg-config, run"
