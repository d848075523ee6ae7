#!/usr/bin/env python3
"""main_path.py SOURCE_DIR: counts the files that a reader of docs/architecture.md opens.

The page marks each path with `<!-- path: NAME -->` … `<!-- end -->`. Inside, every hop is written as `function` in `src/…/file.cc`. This script checks
that each file defines the function that the page names, that a path visits each file once, that the two main paths
stay within their bounds, and that the table of the page still has the right counts (files exactly, lines within a twentieth)."""
import os, re, sys

source = os.path.abspath(sys.argv[1])
# Path → (paths that it continues, most files, most lines). A path without bounds is only reported.
PATHS = {
    "start to end": ([], 20, 3500),
    "start to end over HTTP": (["start to end"], 30, 5000),
    "call by an HTTP worker, SQLite": ([], None, None),
    "call by an HTTP worker, PostgreSQL": ([], None, None),
    "timer, PostgreSQL, two nodes": ([], None, None),
}
HOP = re.compile(r"`([A-Za-z_][A-Za-z0-9_:~]*)`\s+in\s+`((?:src|include)/[^`]+)`")


def hops(text):
    found = {}
    for name, body in re.findall(r"<!-- path: (.*?) -->(.*?)<!-- end -->", text, re.S):
        found[name] = HOP.findall(body)
    return found


def check(text, read):
    """The table's rows and what is wrong."""
    wrong, rows, paths = [], [], hops(text)
    for name, (continued, files_max, lines_max) in PATHS.items():
        if name not in paths:
            wrong.append(f"docs/architecture.md has no path '{name}'")
            continue
        seen = []
        for function, path in paths[name]:
            body = read(path)
            if body is None:
                wrong.append(f"{name}: {path} does not exist")
                continue
            if not re.search(rf"^\w.*(?<![\w:]){re.escape(function)}\(.*[^;\n]$", body, re.M):
                wrong.append(f"{name}: {path} does not define {function}")
            if path in seen:
                wrong.append(f"{name}: {path} is visited twice")
            seen.append(path)
        for other in continued:
            seen += [path for _, path in paths.get(other, []) if path not in seen]
        lines = sum(read(path).count("\n") for path in seen if read(path) is not None)
        rows.append((name, len(seen), lines))
        recorded = re.search(rf"^\| {re.escape(name)} \| (\d+) \| (\d+) \|$", text, re.M)
        if not recorded or int(recorded.group(1)) != len(seen) or abs(int(recorded.group(2)) - lines) > lines / 20:
            wrong.append(f"{name}: {len(seen)} files and {lines} lines, which is not what the table of the page says")
        if not paths[name]:
            wrong.append(f"{name}: the page names no function")
        if files_max and len(seen) > files_max:
            wrong.append(f"{name}: {len(seen)} files, at most {files_max}")
        if lines_max and lines > lines_max:
            wrong.append(f"{name}: {lines} lines, at most {lines_max}")
    return rows, wrong


def read(path):
    full = os.path.join(source, path)
    if not os.path.isfile(full):
        return None
    with open(full) as file:
        return file.read()


# The check itself can fail: a page with a missing function, a file named twice and too many lines.
small = {"src/a.cc": "void go() {}\nvoid gone();\n", "src/b.cc": "void stop() {}\n" * 4000}
page = "".join(f"<!-- path: {name} -->`go` in `src/a.cc`, then `gone` in `src/a.cc`, `stop` in `src/b.cc`.<!-- end -->" for name in PATHS)
_, faults = check(page, small.get)
assert any("does not define gone" in fault for fault in faults) and any("visited twice" in fault for fault in faults) and any("lines, at most" in fault for fault in faults)
assert any("table of the page" in fault for fault in faults), faults

rows, wrong = check(read("docs/architecture.md"), read)
for name, files, lines in rows:
    print(f"{name:36} {files:3} files {lines:6} lines")
for fault in wrong:
    print("not so:", fault)
print(f"{len(rows)} passed, {len(wrong)} failed")
sys.exit(1 if wrong else 0)
