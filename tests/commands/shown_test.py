#!/usr/bin/env python3
"""shown_test.py CAIRN SOURCE_DIR: what the examples and the documentation show is what happens.

In a definition's comments and in ```console blocks of Markdown, a line `$ cairn …` (continued with a backslash) is a
command, and the lines after it up to an empty one or the next `$` are exactly what it prints on stdout. In Markdown every
```yaml block that begins with `cairn:` must be valid.
"""
import glob, json, os, re, subprocess, sys, tempfile

cairn, source = os.path.abspath(sys.argv[1]), sys.argv[2]
os.chdir(source)
passed = failed = 0


def judge(place, ok, why=""):
    global passed, failed
    if ok:
        passed += 1
    else:
        failed += 1
        print(f"{place}: {why}")


def commands(lines):
    """(line number, command, expected stdout lines) of each `$ cairn` in plain lines."""
    at = 0
    while at < len(lines):
        text = lines[at].strip()
        if not text.startswith("$ cairn "):
            at += 1
            continue
        begin, command = at + 1, text[2:]
        while command.endswith("\\"):
            at += 1
            command = command[:-1] + lines[at].strip()
        at += 1
        expected = []
        while at < len(lines) and lines[at].strip() and not lines[at].strip().startswith("$"):
            expected.append(lines[at].strip())
            at += 1
        yield begin, command, expected


def run(place, command, expected):
    done = subprocess.run(["bash", "-c", f'cairn() {{ "{cairn}" "$@"; }}; {command}'], capture_output=True, text=True, timeout=60)
    printed = [line.strip() for line in done.stdout.splitlines()]
    if expected == ["…"]:
        judge(place, done.returncode == 0, f"exit code {done.returncode}: {done.stderr[-300:]}")
        return
    judge(place, printed == expected, f"`{command[:100]}` printed\n  {printed}\ninstead of\n  {expected}\n{done.stderr[-500:]}")


for file in sorted(glob.glob("examples/*.yaml")):
    lines = []
    for line in open(file, encoding="utf-8"):
        if not line.startswith("#"):
            break
        lines.append(line[1:])
    shown = list(commands(lines))
    for begin, command, expected in shown:
        run(f"{file}:{begin}", command, expected)

# tests/docs/examples_test.py runs the pages that start servers.
for file in sorted(glob.glob("docs/*.md")):
    if file in ("docs/README.md", "docs/measuring.md"):
        continue
    text = open(file, encoding="utf-8").read()
    for block in re.finditer(r"^```(\w+)\n(.*?)^```", text, re.M | re.S):
        number = text[: block.start()].count("\n") + 1
        kind, body = block.group(1), block.group(2)
        if kind == "console":
            for begin, command, expected in commands(body.splitlines()):
                run(f"{file}:{number + begin}", command, expected)
        elif kind == "yaml" and body.startswith("cairn:"):
            with tempfile.NamedTemporaryFile("w", suffix=".yaml", encoding="utf-8") as snippet:
                snippet.write(body)
                snippet.flush()
                done = subprocess.run([cairn, "validate", snippet.name], capture_output=True, text=True, timeout=60)
                judge(f"{file}:{number}", done.returncode == 0, done.stderr)

print(f"{passed} passed, {failed} failed")
sys.exit(1 if failed or not passed else 0)
