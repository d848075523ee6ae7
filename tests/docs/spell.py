#!/usr/bin/env python3
"""spell.py SOURCE_DIR [--add]: the words of the documentation are spelled right.

hunspell with its English dictionaries reads the prose of every Markdown file: without code, addresses and names of files. Words that it does not know
are in tests/docs/words.txt, or wrong. --add writes the list again; read the difference.
"""
import glob, os, re, subprocess, sys

source = sys.argv[1]
FOLDERS = ("docs", "bench", "clients", "console", "deploy", "examples", "tests", ".github")
EXEMPT = ("bench/results/", "bench/history/", "tests/docs/prose_lint_fixture.md")
LIST = os.path.join(source, "tests/docs/words.txt")


def words_of(text):
    """(line number, text) of the prose of a page."""
    fence, comment = None, False
    for number, line in enumerate(text.splitlines(), 1):
        mark = re.match(r"\s*(`{3,}|~{3,})", line)
        if fence:
            fence = None if line.strip() == fence else fence
            continue
        if mark:
            fence = mark.group(1)
            continue
        if comment or line.strip().startswith("<!--"):
            comment = "-->" not in line
            continue
        if line.startswith("    ") and not re.match(r"\s*([-*]|\d+\.) ", line):
            continue
        line = re.sub(r"(`+).*?\1|\]\([^)]*\)|<[^>]*>|https?://\S+|\b[\w.-]+[/_.][\w/_.-]*\w|\b\w*\d\w*\b|\b[a-z]+[A-Z]\w*|[{}$]\S*", " ", line)
        yield number, line


def hunspell(text):
    """The words that it does not know."""
    dictionaries = subprocess.run(["hunspell", "-D"], capture_output=True, text=True, stdin=subprocess.DEVNULL)
    if "en_US" not in dictionaries.stdout + dictionaries.stderr:
        sys.exit("hunspell has no dictionary en_US: install hunspell-en-us (./dev setup)")
    done = subprocess.run(["hunspell", "-d", "en_US", "-i", "utf-8", "-l"], input=text, capture_output=True, text=True, check=True)
    return set(done.stdout.split())


def main():
    assert list(words_of("`x` a\n```\nb\n```\n[c](d.md) e.txt HTTP2\n"))[0] == (1, "  a") and "wrongg" in hunspell("a wrongg word")
    with open(LIST, encoding="utf-8") as file:
        known = {line.strip() for line in file if line.strip() and not line.startswith("#")}
    paths = sorted(glob.glob(os.path.join(source, "*.md")))
    for folder in FOLDERS:
        paths += sorted(glob.glob(os.path.join(source, folder, "**/*.md"), recursive=True))
    paths = [path for path in paths if "node_modules" not in path and not os.path.relpath(path, source).startswith(EXEMPT)]
    prose = {}
    for path in paths:
        with open(path, encoding="utf-8") as file:
            prose[os.path.relpath(path, source)] = list(words_of(file.read()))
    unknown = hunspell("\n".join(line for lines in prose.values() for _, line in lines))
    if "--add" in sys.argv:
        with open(LIST, "w", encoding="utf-8") as file:
            file.write("# Words that are right although no dictionary has them: `python3 tests/docs/spell.py . --add` writes this list.\n")
            file.writelines(word + "\n" for word in sorted(unknown, key=lambda word: (word.lower(), word)))
        print(f"{len(unknown)} words")
        return
    wrong = 0
    for path, lines in prose.items():
        for number, line in lines:
            for word in sorted({one for one in re.findall(r"[\w’'-]+", line) for one in [one.strip("'’-")]} | set(re.findall(r"\w+", line))):
                if word in unknown and word not in known:
                    print(f"{path}:{number}: {word}")
                    wrong += 1
    print(f"{len(paths)} pages, {wrong} problems")
    sys.exit(1 if wrong else 0)


main()
