#!/usr/bin/env bash
# Draws every example into this folder: docs/diagrams/render.sh [path of the cairn binary]
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
root=$(cd "$here/../.." && pwd)
cairn=${1:-$root/build/cairn}
[ -x "$cairn" ] || { echo "render.sh: $cairn is not there; run ./dev build first" >&2; exit 1; }
for file in "$root"/examples/*.yaml; do
  case "$file" in *.test.yaml) continue ;; esac
  "$cairn" render "$file" -o "$here/$(basename "$file" .yaml).svg"
done
"$cairn" render "$root/examples/loan-approval.yaml" --theme dark -o "$here/loan-approval-dark.svg"
