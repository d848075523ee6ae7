#!/usr/bin/env python3
"""semantics_test.py SOURCE_DIR: docs/semantics.md and the source agree.

- Every rule has an id of its own, and the ids of a group have no gap.
- Every file that a `Proof:` line names exists, and every scenario that it names is in that file.
- Every rule that a comment or test cites (`rule S11`, `rules S1, S2`) exists.
- No comment cites documents that are not in the repository.
"""
import glob, os, re, sys

source = sys.argv[1]
problems = []
with open(os.path.join(source, "docs/semantics.md"), encoding="utf-8") as file:
    page = file.read()

rules = re.findall(r"^### ([A-Z])(\d+) ", page, re.M)
ids = [letter + number for letter, number in rules]
if len(ids) < 50:
    problems.append(f"docs/semantics.md: only {len(ids)} rules")
for letter in sorted({letter for letter, _ in rules}):
    numbers = [int(number) for other, number in rules if other == letter]
    if numbers != list(range(1, len(numbers) + 1)):
        problems.append(f"docs/semantics.md: the rules {letter} are numbered {numbers}")

for line in re.findall(r"^Proof.*?:(.*)$", page, re.M):
    for path, names in re.findall(r"`([\w./-]+/[\w.-]+)`(?: \(([^)]*)\))?", line):
        full = os.path.join(source, path)
        if not os.path.exists(full):
            problems.append(f"docs/semantics.md: there is no {path}")
        elif names:
            with open(full, encoding="utf-8") as file:
                text = file.read()
            for name in re.findall(r"`([^`]+)`", names):
                if not re.search(rf"name: [\"']?{re.escape(name)}[\"']?$", text, re.M):
                    problems.append(f"docs/semantics.md: {path} has no scenario `{name}`")

cited = 0
for folder in ("src", "include", "tests", "bench"):
    for path in sorted(glob.glob(os.path.join(source, folder, "**/*"), recursive=True)):
        if not path.endswith((".cc", ".h", ".py", ".yaml", ".sql", ".mjs")) or path == os.path.abspath(__file__):
            continue
        with open(path, encoding="utf-8", errors="replace") as file:
            text = file.read()
        for found in re.finditer(r"\b[Rr]ules? ((?:[A-Z]\d+)(?:(?:,| and| to| or)+ [A-Z]\d+)*)", text):
            place = f"{os.path.relpath(path, source)}:{text[:found.start()].count(chr(10)) + 1}"
            for rule in re.findall(r"[A-Z]\d+", found.group(1)):
                cited += 1
                if rule not in ids:
                    problems.append(f"{place}: there is no rule {rule}")
        if os.path.basename(path) != os.path.basename(__file__):
            for found in re.finditer(r"\bSEMANTICS\b|\bCONTRACT (?:section )?\d|\bDESIGN [A-Z]\d", text):
                place = f"{os.path.relpath(path, source)}:{text[:found.start()].count(chr(10)) + 1}"
                problems.append(f"{place}: {found.group(0)} is not in this repository; cite a rule of docs/semantics.md")
if cited < 30:
    problems.append(f"only {cited} citations found: the pattern is wrong")

print("\n".join(problems))
print(f"{len(ids)} rules, {cited} citations, {len(problems)} problems")
sys.exit(1 if problems else 0)
