#!/usr/bin/env python3
"""Runs conformance vectors against the cairn binary and fails below the bars.

    run.py --cairn PATH [--own DIR] [--shared DIR] [-v]

Own vectors (expr/*.json beside this file) must all pass, and there are at least 600. The shared CEL and
JSON Schema vectors run when the folder given with --shared exists. Standard library only.
"""

import argparse
import collections
import json
import math
import pathlib
import subprocess
import sys

OWN_COUNT_MIN = 600
# Per cent that must pass, by group; groups not named here are reported only.
CEL_BARS = {
    "core": 100, "ext.strings": 100, "ext.math": 100, "ext.optionals": 100, "ext.two_var_comprehensions": 100,
    "ext.bindings": 100, "ext.encoders": 100, "check": 90,
}
SCHEMA_BARS = {"required": 99}


def same(a, b):
    """Whether two typed values are equal: maps without order, NaN equal to NaN."""
    if not (isinstance(a, dict) and isinstance(b, dict) and len(a) == 1 and a.keys() == b.keys()):
        return False
    (kind, x), (_, y) = *a.items(), *b.items()
    if kind == "double":
        x, y = float(x), float(y)
        return x == y or (math.isnan(x) and math.isnan(y))
    if kind in ("int", "uint"):
        return int(x) == int(y)
    if kind == "list":
        return len(x) == len(y) and all(map(same, x, y))
    if kind == "map":
        rest = list(y)
        for key, value in x:
            place = next((i for i, (k, v) in enumerate(rest) if same(key, k) and same(value, v)), None)
            if place is None:
                return False
            rest.pop(place)
        return not rest
    if kind == "optional" and x is not None and y is not None:
        return same(x, y)
    return x == y


def judge(vector, answer):
    expect = vector["expect"]
    if answer is None:
        return "missing"
    if "skip" in answer:
        return "skip"
    if "valid" in expect:
        return "pass" if answer.get("valid") is expect["valid"] else "fail"
    if "error" in expect:
        good = "error" in answer and ("code" not in expect or answer.get("code") == expect["code"])
        return "pass" if good else "fail"
    if "error" in answer:
        return "fail"
    if "value" in expect and not same(expect["value"], answer.get("value")):
        return "fail"
    if "type" in expect and ("type" in answer or "value" not in expect) and answer.get("type") != expect["type"]:
        return "fail"
    return "pass"


def load(folder):
    return [vector for path in sorted(folder.glob("*.json")) for vector in json.loads(path.read_text("utf-8"))["vectors"]]


def corrected(vectors, path):
    """Shared vectors whose expected value is known to be wrong get the right one; said aloud."""
    corrections = json.loads(path.read_text("utf-8"))
    changed = 0
    for vector in vectors:
        right = corrections["expect"].get(vector["id"])
        if right is not None and right != vector["expect"]:
            vector["expect"] = right
            changed += 1
    if changed:
        print(f"corrected the expected value of {changed} shared vectors: {corrections['why']}")
    return vectors


def answers(command, vectors):
    hidden = ("expect", "skipped_by", "description")  # the program never sees what is expected
    lines = "".join(json.dumps({k: v for k, v in vector.items() if k not in hidden}) + "\n" for vector in vectors)
    run = subprocess.run(command, input=lines.encode(), stdout=subprocess.PIPE, timeout=600, check=False)
    found = {}
    for line in run.stdout.decode("utf-8", "replace").splitlines():
        try:
            answer = json.loads(line)
            found[answer["id"]] = answer
        except (ValueError, KeyError, TypeError):
            print("not an answer:", line[:200])
    if run.returncode != 0:
        print(" ".join(map(str, command)), "ended with", run.returncode)
    return found


def score(title, command, vectors, group_of, bars, verbose):
    """Prints a line for each group; false when one is below its bar."""
    found = answers(command, vectors)
    counts = collections.defaultdict(collections.Counter)
    for vector in vectors:
        verdict = judge(vector, found.get(vector["id"]))
        counts[group_of(vector)][verdict] += 1
        if verdict in ("fail", "missing") and (verbose or bars.get(group_of(vector)) == 100):
            print(verdict, vector["id"], "|", str(vector.get("expr", ""))[:160].replace("\n", " "), "| want",
                  json.dumps(vector["expect"], ensure_ascii=False)[:200], "| got",
                  json.dumps(found.get(vector["id"]), ensure_ascii=False)[:300])
    good = True
    for group, count in sorted(counts.items()):
        total = sum(count.values())
        percent = 100 * count["pass"] / total
        bar = bars.get(group)
        below = bar is not None and percent < bar
        good = good and not below
        print(f"{title} {group:28} {count['pass']:5} of {total:5}  {percent:6.2f} %"
              + (f"  bar {bar} %" if bar is not None else "") + ("  BELOW" if below else "")
              + (f"  skipped {count['skip']}" if count["skip"] else ""))
    # Every group with a bar must be there: an empty folder must not pass.
    for group in bars.keys() - counts.keys():
        print(f"{title} {group}: no vectors found")
        good = False
    return good


def main():
    here = pathlib.Path(__file__).resolve().parent
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--cairn", required=True)
    parser.add_argument("--own", type=pathlib.Path, default=here / "expr")
    parser.add_argument("--shared", type=pathlib.Path)
    parser.add_argument("-v", action="store_true", dest="verbose")
    options = parser.parse_args()

    evaluate = [options.cairn, "eval", "--vectors", "-"]
    own = load(options.own)
    groups = {vector["group"] for vector in own}
    good = score("own", evaluate, own, lambda v: v["group"], {group: 100 for group in groups}, options.verbose)
    print(f"own vectors in all: {len(own)}")
    if len(own) < OWN_COUNT_MIN:
        print(f"there must be at least {OWN_COUNT_MIN}")
        good = False
    if options.shared and options.shared.is_dir():
        cel = corrected(load(options.shared / "cel"), here / "shared_corrections.json")
        good = score("CEL", evaluate, cel, lambda v: v["group"], CEL_BARS, options.verbose) and good
        schema = load(options.shared / "json-schema")
        check = [options.cairn, "check-data", "--vectors", "-"]
        good = score("JSON Schema", check, schema, lambda v: v["kind"], SCHEMA_BARS, options.verbose) and good
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
