#!/usr/bin/env python3
"""Plants the bugs of bugs.py in a copy of the sources, builds it once and counts the worlds until each is found.

plant.py check                does the text of each bug stand exactly once in its file? Builds nothing
plant.py tree FOLDER          make or refresh the copy
plant.py run PROGRAM [NAME…]  run each bug (or those named) and print the table
"""

import collections
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "oracle"))
import check  # noqa: E402
from bugs import ALSO, BUGS  # noqa: E402

SEEDS_MAX = 2000
RECORDED_AT_ONCE = 200
SOURCES = os.path.abspath(os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../.."))


def planted():
    """The mutated text of each file that has bugs. Names every bug that cannot be planted and ends."""
    changes = [(name, path, old, new) for name, _, path, old, new in BUGS] + ALSO
    texts, wrong = {}, []
    for name, path, old, new in changes:
        if path not in texts:
            source = os.path.join(SOURCES, path)
            texts[path] = '#include "base/planted.h"\n' + open(source).read() if os.path.isfile(source) else ""
        found = texts[path].count(old)
        if found != 1:
            wrong.append(f"planted bug {name}: its text stands {found} times in {path}; bugs.py must follow\n{old}")
        elif not re.search(r"\bPLANTED\b", new):
            wrong.append(f"planted bug {name}: its change does not ask for PLANTED")
        else:
            texts[path] = texts[path].replace(old, re.sub(r"\bPLANTED\b", f'::cairn::planted("{name}")', new))
    if wrong:
        sys.exit("\n".join(wrong))
    return texts


def check_anchors():
    print(f"{len(BUGS)} bugs in {len(planted())} files can be planted")


def write(path, content):
    """Only when it differs: what did not change is not built again."""
    if os.path.exists(path) and open(path, "rb").read() == content:
        return
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "wb") as out:
        out.write(content)


def make_tree(folder):
    files = subprocess.check_output(["git", "-C", SOURCES, "ls-files", "-co", "--exclude-standard"], text=True).split("\n")
    texts = planted()
    wanted = ("src/", "include/", "cmake/", "tests/", "third_party/", "bench/", "CMakeLists.txt", "examples/", "docs/")
    for name in files:
        source = os.path.join(SOURCES, name)
        if not name.startswith(wanted) or not os.path.isfile(source):
            continue
        content = texts[name].encode() if name in texts else open(source, "rb").read()
        write(os.path.join(folder, name), content)
    write(os.path.join(folder, "src/base/planted.h"),
          open(os.path.join(SOURCES, "tests/sim/planted/planted.h"), "rb").read())
    for package in os.listdir(os.path.join(SOURCES, "third_party")):
        modules = os.path.join(SOURCES, "third_party", package, "node_modules")
        link = os.path.join(folder, "third_party", package, "node_modules")
        if os.path.isdir(modules) and not os.path.islink(link):
            if os.path.isdir(link):
                shutil.rmtree(link)
            os.symlink(modules, link)


def found_by_invariants(program, environment):
    """The first world that fails, and which check said so."""
    answer = subprocess.run([program, "--seeds", f"1..{SEEDS_MAX}", "--until-failure"], text=True, capture_output=True,
                            env=environment)
    found = re.search(r"^first failure: seed (\d+): (.*?):", answer.stdout, re.M)
    return (found[1], found[2]) if found else None


def found_by_oracle(program, environment):
    """The first world that holds all invariants and does what no workflow asked for."""
    with tempfile.TemporaryDirectory() as folder:
        records = os.path.join(folder, "worlds.jsonl")
        for first in range(1, SEEDS_MAX + 1, RECORDED_AT_ONCE):
            subprocess.run([program, "--seeds", f"{first}..{min(SEEDS_MAX, first + RECORDED_AT_ONCE - 1)}", "--quiet",
                            "--no-shrink", "--records", records], stdout=subprocess.DEVNULL, env=environment)
            with open(records, encoding="utf-8") as lines:
                cases = [json.loads(line) for line in lines]
            wrong = [case["environment_seed"] for case in cases if check.judged(case, {}, collections.Counter()) is not None]
            if wrong:
                return str(min(wrong)), "the oracle"
    return None


def run(program, names):
    missed = []
    print("| planted bug | seeds | found by | what a real engine did |\n| --- | --- | --- | --- |")
    for name, why, *_ in BUGS:
        if names and name not in names:
            continue
        environment = {**os.environ, "CAIRN_PLANTED": name}
        found = found_by_invariants(program, environment) or found_by_oracle(program, environment)
        print(f"| `{name}` | {found[0] if found else 'none'} | {found[1] if found else ''} | {why} |", flush=True)
        if not found:
            missed.append(name)
    if missed:
        sys.exit("not found: " + ", ".join(missed))


if __name__ == "__main__":
    if sys.argv[1:] == ["check"]:
        check_anchors()
    elif sys.argv[1:2] == ["tree"] and len(sys.argv) == 3:
        make_tree(sys.argv[2])
    elif sys.argv[1:2] == ["run"] and len(sys.argv) >= 3:
        run(sys.argv[2], sys.argv[3:])
    else:
        sys.exit(__doc__)
