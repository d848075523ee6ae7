#!/usr/bin/env python3
"""requirements_test.py SOURCE_DIR: everything that docs/requirements.md cites exists. Whether a test proves its row is for a reviewer to judge.

- The rows of each section are numbered without a gap, and each has five cells.
- The last cell of a row cites a test, or says **Differs**, **Not yet** or **By design**.
- Every file in code exists. A test that is named after a file of tests is in that file: a gtest, a scenario, or a text of a script.
- Every link leads to a page, and its anchor is a heading of that page.
- Every table `wf_…` is in the PostgreSQL schema, unless its row says **Not yet**.
"""
import os, re, sys

FILE = re.compile(r"`((?:src|tests|include|docs|clients|deploy|bench)/[\w./-]+)`(?: \(((?:`[^`]+`(?:, )?)+)\))?")
LINK = re.compile(r"\[[^\]]*\]\(([^)#]*)(?:#([^)]+))?\)")
IS_TEST = re.compile(r"^tests/|_test\.\w+$")


def slug(heading):
    return re.sub(r"[^\w\- ]", "", heading.strip().lower()).replace(" ", "-")


def headings(text):
    text = re.sub(r"^```.*?^```", "", text, flags=re.M | re.S)
    return {slug(heading) for heading in re.findall(r"^#+ (.*)$", text, re.M)}


def has_test(path, text, name):
    if path.endswith(".cc"):
        return re.search(rf"^TEST\w*\(\w+, {re.escape(name)}\)", text, re.M)
    if path.endswith(".yaml"):
        return re.search(rf"^ *- name: [\"']?{re.escape(name)}[\"']?$", text, re.M)
    return name in text


def check(page, read):
    """The number of rows, of cited tests, and what is wrong. `read` gives the text of a file, or nothing."""
    wrong, tests = [], 0
    rows = [line for line in page.splitlines() if re.match(r"\| \d+\.\d+ \|", line)]
    numbers = [tuple(map(int, row.split("|")[1].strip().split("."))) for row in rows]
    expected = []
    for section in range(1, max((first for first, _ in numbers), default=0) + 1):
        expected += [(section, i + 1) for i in range(sum(1 for first, _ in numbers if first == section))]
    if numbers != expected:
        wrong += [f"row {a}.{b} is out of order" for (a, b), other in zip(numbers, expected) if (a, b) != other][:1]
    for row in rows:
        cells = [cell.strip() for cell in row.strip().strip("|").split(" | ")]
        number, last = cells[0], cells[-1]
        if len(cells) != 5:
            wrong.append(f"{number}: {len(cells)} cells instead of 5")
        cited = [path for path, _ in FILE.findall(last) if IS_TEST.search(path)]
        if not cited and not any(f"**{word}**" in last for word in ("Differs", "Not yet", "By design")):
            wrong.append(f"{number}: neither a test nor a reason")
        if "**Not yet**" not in last:
            schema = read("src/store/postgres/sql/schema.sql") or ""
            for table in re.findall(r"`(wf_\w+)`", row):
                if not re.search(rf"CREATE (TABLE|VIEW) cairn\.{table} ", schema):
                    wrong.append(f"{number}: there is no table {table}")
    for path, names in FILE.findall(page):
        text = read(path)
        if text is None:
            wrong.append(f"{path} does not exist")
            continue
        for name in re.findall(r"`([^`]+)`", names):
            tests += 1
            if not has_test(path, text, name):
                wrong.append(f"{path} has no test `{name}`")
    for target, anchor in LINK.findall(page):
        text = read(os.path.normpath(os.path.join("docs", target)) if target else "docs/requirements.md")
        if text is None:
            wrong.append(f"the link to {target} leads nowhere")
        elif anchor and anchor not in headings(text):
            wrong.append(f"{target} has no heading #{anchor}")
    return len(rows), tests, wrong


# The check itself can fail: each line below has one fault.
FAULTY = """
| 1.1 | A | a | `src/gone.cc` | `tests/a_test.cc` (`Known`) |
| 1.2 | A | a | b | `tests/a_test.cc` (`Unknown`) |
| 1.3 | A | a | [page](page.md#no-such-heading) | **Differs**: because |
| 1.4 | A | a | [page](gone.md) | **Not yet** |
| 1.5 | A | a | b | nothing |
| 1.7 | A | a | `wf_gone` | `tests/a.test.yaml` (`unknown`) |
"""
FILES = {"tests/a_test.cc": "TEST(A, Known) {\n", "tests/a.test.yaml": "- name: known\n", "docs/page.md": "# A heading\n"}
_, _, faults = check(FAULTY, FILES.get)
for expected in ("src/gone.cc does not exist", "no test `Unknown`", "no heading #no-such-heading", "gone.md leads nowhere", "1.5: neither",
                 "row 1.7 is out of order", "no table wf_gone", "no test `unknown`"):
    assert any(expected in fault for fault in faults), (expected, faults)
assert len(faults) == 8, faults

source = sys.argv[1]


def read(path):
    full = os.path.join(source, path)
    if os.path.isdir(full):
        return ""
    if not os.path.isfile(full):
        return None
    with open(full, encoding="utf-8") as file:
        return file.read()


rows, tests, wrong = check(read("docs/requirements.md"), read)
if rows < 150 or tests < 120:
    wrong.append("too few rows or tests were found: the pattern is wrong")
for fault in wrong:
    print("docs/requirements.md:", fault)
print(f"{rows} requirements, {tests} cited tests, {len(wrong)} problems")
sys.exit(1 if wrong else 0)
