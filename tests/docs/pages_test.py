#!/usr/bin/env python3
"""pages_test.py SOURCE_DIR [--wrap PAGE…]: the pages of the documentation are short, and their links lead somewhere.

- Every link of every Markdown file leads to a file of the repository, and its anchor to a heading of that page. Links to other hosts are not followed.
- A page has at most WORDS_MAX words outside of code, except the reference (REFERENCE).
- A line of prose has at most LINE_MAX characters. Tables, code, headings and lines that one link fills are not prose.
- docs/README.md lists every page of docs/ (but docs/adr).
- README.md has at most README_MAX lines.

--wrap breaks the long paragraphs of these pages.
"""
import glob, os, re, sys

WORDS_MAX, LINE_MAX, README_MAX = 1500, 120, 150
# Pages in which readers look something up. They may be long.
REFERENCE = ("docs/adr/", "docs/reference/", "docs/architecture.md", "docs/adding-a-store.md", "docs/canonical.md", "docs/errors.md", "docs/events.md", "docs/expressions.md",
             "docs/glossary.md", "docs/language.md", "docs/operations/postgresql.md", "docs/requirements.md", "docs/scale.md", "docs/schedules.md", "docs/security.md",
             "docs/semantics.md", "docs/server.md", "docs/simulation.md", "docs/testing.md", "docs/verify.md", "docs/workers.md")
# Pages whose lines are longer. A page leaves this list when its lines are wrapped, and none is added.
LONG_LINES = ("docs/adr/", "docs/adding-a-store.md", "docs/architecture.md", "docs/canonical.md", "docs/dependencies.md", "docs/diagrams.md", "docs/errors.md", "docs/events.md", "docs/expressions.md",
              "docs/glossary.md", "docs/language.md", "docs/operations/postgresql.md", "docs/operations/sqlite.md", "docs/requirements.md", "docs/scale.md", "docs/schedules.md",
              "docs/security.md", "docs/semantics.md", "docs/server.md", "docs/simulation.md", "docs/testing.md", "docs/verify.md", "docs/workers.md", "CHANGELOG.md",
              "bench/", "clients/", "console/", "tests/")
# Files whose links and size do not matter.
EXEMPT = ("bench/results/", "bench/history/", "tests/docs/prose_lint_fixture.md")
FOLDERS = ("docs", "bench", "clients", "console", "deploy", "examples", "tests", ".github")
LINK = re.compile(r"(?<!\\)\[(?:[^\[\]]|\[[^\]]*\])*\]\(<?([^)\s>]*)>?\)")


def slug(heading):
    heading = re.sub(r"!?\[([^\]]*)\]\([^)]*\)", r"\1", heading)
    return re.sub(r"[^\w\- ]", "", re.sub(r"[`*]", "", heading).strip().lower()).replace(" ", "-")


def without_code(text):
    """The same lines, with those of fenced blocks and comments empty."""
    lines, fence, comment = [], None, False
    for line in text.splitlines():
        mark = re.match(r"\s*(`{3,}|~{3,})", line)
        if fence:
            if line.strip() == fence:
                fence = None
            line = ""
        elif mark:
            fence, line = mark.group(1), ""
        elif comment or "<!--" in line:
            comment = "-->" not in line
            line = "" if comment or line.strip().startswith("<!--") or line.strip().endswith("-->") else line
        lines.append(line)
    return lines


def headings(text):
    found, seen = set(), {}
    for line in without_code(text):
        heading = re.match(r"#+ (.*?)\s*#*$", line)
        if heading:
            name = slug(heading.group(1))
            found.add(name if name not in seen else f"{name}-{seen[name]}")
            seen[name] = seen.get(name, 0) + 1
    return found


def links(text):
    for number, line in enumerate(without_code(text), 1):
        for target in LINK.findall(re.sub(r"(`+).*?\1", "", line)):
            yield number, target


def check(path, text, read, exists):
    """What is wrong with a page. `read` gives the text of another one, `exists` says whether a file or folder exists."""
    wrong = []
    for number, target in links(text):
        if re.match(r"[a-z]+:", target):
            continue
        place, _, anchor = target.partition("#")
        other = os.path.normpath(os.path.join(os.path.dirname(path), place)) if place else path
        if not exists(other):
            wrong.append(f"{path}:{number}: the link to {target} leads nowhere")
        elif anchor and other.endswith(".md") and anchor not in headings(read(other)):
            wrong.append(f"{path}:{number}: {place or path} has no heading #{anchor}")
    lines = without_code(text)
    words = sum(len(line.split()) for line in lines)
    if words > WORDS_MAX and not path.startswith(REFERENCE) and path.startswith("docs/"):
        wrong.append(f"{path}: {words} words, at most {WORDS_MAX}; split the page")
    if not path.startswith(LONG_LINES):
        for number, line in enumerate(lines, 1):
            is_prose = not re.match(r"\s*\||#| {4}", line) and not re.fullmatch(r"\s*(?:[-*] |\d+\. )?!?\[[^\]]*\]\(\S+\)[.,;:]?", line)
            if is_prose and len(line) > LINE_MAX:
                wrong.append(f"{path}:{number}: a line of {len(line)} characters, at most {LINE_MAX}")
    if path == "README.md" and text.count("\n") > README_MAX:
        wrong.append(f"README.md: {text.count(chr(10))} lines, at most {README_MAX}")
    return wrong


def wrap(text):
    """The same page; paragraphs and list items with a long line are broken again. Code and links stay whole."""
    done, paragraph = [], []

    def close():
        if paragraph and max(len(line) for line in paragraph) > LINE_MAX:
            begin = re.match(r"(\s*(?:[-*] |\d+\. )?)(.*)", paragraph[0])
            words = re.findall(r"(?:`[^`]*`|\[[^\]]*\]\([^)]*\)|\S)+", " ".join([begin.group(2).strip()] + [line.strip() for line in paragraph[1:]]))
            line = begin.group(1) + words[0]
            for word in words[1:]:
                if len(line) + 1 + len(word) > LINE_MAX - 2:
                    done.append(line)
                    line = " " * len(begin.group(1)) + word
                else:
                    line += " " + word
            done.append(line)
        else:
            done.extend(paragraph)
        paragraph.clear()

    for line, code in zip(text.split("\n"), without_code(text) + [""]):
        if not code.strip() or re.match(r"\s*\||#|!\[| {4}", line):
            close()
            done.append(line)
            continue
        if re.match(r"\s*([-*]|\d+\.) ", line):
            close()
        paragraph.append(line)
    close()
    return "\n".join(done)


def self_test():
    """The check itself can fail."""
    files = {"docs/b.md": "# A `head`ing: yes\n# Twice\n# Twice\n"}
    page = ("[a](b.md) [b](gone.md) [c](b.md#a-heading-yes) [d](b.md#nothing) [e](b.md#twice-1)\n" + "word " * 30 + "\n```\n[no](nothing)\n```\n`[no](x)`\n"
            "| " + "x" * 200 + " |\n" + "word " * 1500)
    found = check("docs/a.md", page, files.get, files.__contains__)
    assert len(found) == 5 and "gone.md leads nowhere" in found[0] and "#nothing" in found[1] and "words" in found[2] and ":2: a line" in found[3], found
    long = "- " + "word " * 40 + "[a b](c.md) `d e`\n```\n" + "x" * 200 + "\n```\n"
    assert max(len(line) for line in wrap(long).split("\n")[:2]) <= LINE_MAX and wrap(long).split("\n")[1].startswith("  word"), wrap(long)
    assert wrap(long).split() == long.split() and wrap(wrap(long)) == wrap(long)
    assert check("README.md", "x\n" * 151, files.get, files.__contains__) == ["README.md: 151 lines, at most 150"]


def main():
    source = sys.argv[1]
    self_test()
    if sys.argv[2:3] == ["--wrap"]:
        for path in sys.argv[3:]:
            with open(path, encoding="utf-8") as file:
                text = file.read()
            with open(path, "w", encoding="utf-8") as file:
                file.write(wrap(text))
        return

    def read(path):
        with open(os.path.join(source, path), encoding="utf-8") as file:
            return file.read()

    paths = sorted(os.path.relpath(path, source) for path in glob.glob(os.path.join(source, "*.md")))
    for folder in FOLDERS:
        paths += sorted(os.path.relpath(path, source) for path in glob.glob(os.path.join(source, folder, "**/*.md"), recursive=True))
    paths = [path for path in paths if "node_modules" not in path and "/build/" not in path and not path.startswith(EXEMPT)]
    if len(paths) < 60:
        sys.exit(f"{source} does not look like the source of cairn: only {len(paths)} pages")
    wrong, count = [], 0
    for path in paths:
        text = read(path)
        count += len(list(links(text)))
        wrong += check(path, text, read, lambda other: os.path.exists(os.path.join(source, other)))
    index = {os.path.normpath(os.path.join("docs", target.partition("#")[0])) for _, target in links(read("docs/README.md"))}
    wrong += [f"docs/README.md does not list {path}" for path in paths if path.startswith("docs/") and path not in index and path != "docs/README.md"
              and not re.match(r"docs/adr/\d", path)]
    if count < 400:
        wrong.append(f"only {count} links were found: the pattern is wrong")
    for one in wrong:
        print(one)
    print(f"{len(paths)} pages, {count} links, {len(wrong)} problems")
    sys.exit(1 if wrong else 0)


main()
