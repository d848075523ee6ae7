#!/usr/bin/env python3
"""prose_lint.py SOURCE_DIR [CAIRN]: documentation, comments and messages are written in plain English.

It reads every Markdown file of the source except EXEMPT: the documentation, README, CONTRIBUTING, CHANGELOG and the READMEs of
other folders. It reads the comments of the code (CODE), the text in string literals of src and include except in tests, and
the console's English words (WORDS).
With the path of a built cairn it also reads the `--help` of every command. It reports, as `file:line: message`:

- banned phrases (BANNED below), in prose, headings and tables;
- sentences of more than MAX_WORDS words, in prose and list items. Headings and tables are not sentences.

Code blocks, inline code, HTML comments and link targets are not prose. Nor are lines of a comment that are indented by three
spaces or more, which show code. The self-test runs first on prose_lint_fixture.md:
every line of it that ends with a comment `<!-- … -->` must be reported with that message, and no other line.
"""
import glob, os, re, subprocess, sys

MAX_WORDS = 35
FOLDERS = ("docs", "bench", "clients", "deploy", "examples", "tests")
EXEMPT = ("bench/results/", "bench/history/", "tests/docs/prose_lint_fixture.md", "tests/docs/prose_lint.py")
# Folder -> the files with comments.
CODE = {"src": "h cc sql inc", "include": "h", "bench": "h cc mjs py sh", "tests": "h cc py sh", "cmake": "cmake h", "clients": "ts py",
        "console": "ts tsx mjs", "site": "mjs js"}
# The texts of the console.
WORDS = "console/src/words/en.ts"

# Pattern -> what to write instead. A pattern matches whole words, in any case, also across a line break.
BANNED = {
    r"somebody|someone or other": "name who: a user, an operator, a client, another node",
    r"nobody": "name who: no client, no worker; or `no one`",
    r"whoever": "name who: the caller, the client that",
    r"anybody|everybody": "name who: any user, all clients",
    r"at hand": "say which one",
    r"under way": "running, in progress, pending",
    r"(what|which|that|who) stands?|stands? (there|in|at|next|on|beside|before|behind|after|under|above|once|alone)": "is, is stored, is listed",
    r"that there (is|are)( not| none)?": "unknown, missing, existing",
    r"there (is|are) not": "is missing, is unknown",
    r"what there is": "existing",
    r"in other hands": "locked or leased by another transaction or worker",
    r"(?<!hours )of (ours|theirs)": "our, their",
    r"who asks": "the caller",
    r"in vain": "without a result",
    r"(is|are|be|been|was|were) told": "is notified, is reported; or say who tells whom",
    r"on its way": "in transit, pending, being handled",
    r"go(es)? on": "continues",
    r"(made|done|tried) again": "repeated, retried",
    r"gone over": "scanned",
    r"for which it is meant": "say for what",
    r"errands?|pursuits?": "delivery, delivery attempt",
}
PATTERN = re.compile(
    r"\b(?:" + "|".join(f"({phrase})" for phrase in (re.sub(r"\((?!\?)", "(?:", one) for one in BANNED)) + r")\b", re.I)
ADVICE = list(BANNED.values())


class Line:
    def __init__(self, number, text, is_table=False, is_heading=False, begins=False):
        self.number, self.text = number, text
        self.is_table, self.is_heading = is_table, is_heading
        self.begins = begins  # a new paragraph or list item


def without_markup(text):
    """Inline code and links count as the words that a reader sees."""
    text = re.sub(r"<!--.*?-->", " ", text)
    text = re.sub(r"!\[[^\]]*\]\([^)]*\)", " ", text)
    text = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", text)
    text = re.sub(r"(`+).*?\1", "`c`", text)
    return " ".join(text.replace("*", "").split())


def prose_lines(text):
    """The lines of a Markdown text that are prose, tables or headings; without code blocks and comments."""
    fence, comment, code, after_empty, in_list = None, False, False, True, False
    for number, raw in enumerate(text.splitlines(), 1):
        stripped = raw.strip()
        if fence:
            if stripped.startswith(fence) and not stripped.strip(fence[0]):
                fence = None
            after_empty = True
            continue
        opened = re.match(r"(`{3,}|~{3,})", stripped)
        if opened:
            fence = opened.group(1)
            continue
        if comment or (stripped.startswith("<!--") and "-->" not in stripped):
            comment = "-->" not in stripped
            continue
        if not stripped:
            after_empty, code = True, False
            continue
        indent = len(raw) - len(raw.lstrip())
        item = re.match(r"([-*+]|\d+[.)])\s+", stripped)
        if indent == 0:
            in_list = bool(item)
        if indent >= 4 and (code or (after_empty and not in_list)):
            code = True
            continue
        is_table = stripped.startswith("|")
        is_heading = stripped.startswith("#")
        begins = after_empty or bool(item)
        if item:
            stripped = stripped[item.end():]
        if stripped.startswith(">"):
            stripped = stripped.lstrip("> ")
        yield Line(number, without_markup(stripped), is_table, is_heading, begins)
        after_empty = is_heading or is_table


def blocks(lines):
    """Paragraphs and list items, each as a list of (line number, text)."""
    block = []
    for line in lines:
        if line.is_table or line.is_heading or line.begins:
            if block:
                yield block
            block = []
        if line.is_table or line.is_heading:
            yield [(line.number, line.text)]
            continue
        block.append((line.number, line.text))
    if block:
        yield block


ABBREVIATION = re.compile(r"\b(e\.g|i\.e|etc|vs|cf|approx|incl|no)\.$", re.I)


def sentences(block):
    """(line number where it begins, words) of each sentence of a block."""
    words, begin = [], None
    for number, text in block:
        for word in text.split():
            if begin is None:
                begin = number
            if re.search(r"[\w`]", word):
                words.append(word)
            if re.search(r"[.!?…][\"')”’]*$", word) and not ABBREVIATION.search(word):
                yield begin, words
                words, begin = [], None
    if words:
        yield begin, words


def check_phrases(block):
    text, starts = "", []
    for number, line in block:
        starts.append((len(text), number))
        text += line + " "
    for found in PATTERN.finditer(text):
        number = [line for start, line in starts if start <= found.start()][-1]
        yield number, f'"{found.group(0).lower()}": {ADVICE[found.lastindex - 1]}'


def check_markdown(text):
    """(line number, message) of everything that is wrong."""
    found = []
    lines = list(prose_lines(text))
    ruled_out = {line.number for line in lines if line.is_table or line.is_heading}
    for block in blocks(lines):
        found += check_phrases(block)
        if block[0][0] in ruled_out:
            continue
        for number, words in sentences(block):
            if len(words) > MAX_WORDS:
                found.append((number, f"a sentence of {len(words)} words (at most {MAX_WORDS}): {' '.join(words[:8])} …"))
    return sorted(found)


def check_help(text):
    """Help is lines and columns, not Markdown: a text in the second column is a block, and so is a paragraph."""
    found, block = [], []

    def close():
        if block:
            found.extend(check_phrases(block))
            found.extend((number, f"a sentence of {len(words)} words (at most {MAX_WORDS}): {' '.join(words[:8])} …")
                         for number, words in sentences(block) if len(words) > MAX_WORDS)
        block.clear()

    for number, raw in enumerate(text.splitlines(), 1):
        columns = re.match(r"\s*\S.*?\s{2,}(\S.*)$", raw)
        deep = len(raw) - len(raw.lstrip()) >= 12  # the second column goes on
        if not raw.strip() or columns or not (deep or raw[:1].strip()):
            close()
        if raw.strip():
            block.append((number, columns.group(1) if columns else raw.strip()))
    close()
    return found


COMMENT = {"h": "//", "cc": "//", "inc": "//", "ts": "//", "tsx": "//", "mjs": "//", "sql": "--", "py": "#", "sh": "#", "cmake": "#", "js": "//"}
TOKEN = re.compile(r"""(?P<comment>//[^\n]*)|R"(?P<mark>[^\s()]*)\((?P<raw>.*?)\)(?P=mark)"|"(?P<string>(?:\\.|[^"\\\n])*)"|'(?:\\.|[^'\\\n])*'""", re.S)


def comment_blocks(text, mark):
    """The comments of a file: lines that follow each other are one block, a comment behind code is one of its own."""
    block = []
    whole = re.compile(r"\s*" + re.escape(mark) + r"(?!!)(.*)")
    behind = re.compile(r".*?\S.*?\s" + re.escape(mark) + r" (.*)")
    for number, raw in enumerate(text.splitlines(), 1):
        line = whole.match(raw)
        shown = line and re.match(r"\s{3,}", line.group(1))  # code
        words = line.group(1).strip() if line else ""
        if block and (not words or shown or re.match(r"([-*]|\d+[.)])\s", words)):
            yield block
            block = []
        if words and not shown:
            block.append((number, without_markup(re.sub(r"^([-*]|\d+[.)])\s+", "", words))))
        elif not line and mark != "#" and '"' not in raw and (trailing := behind.match(raw)):
            yield [(number, without_markup(trailing.group(1)))]
    if block:
        yield block


def literal_blocks(text):
    """The text in string literals of C++; literals that follow each other are one. Words without a space are names."""
    block, end = "", 0
    number = 1
    for found in TOKEN.finditer(text):
        if block and text[end:found.start()].strip():
            yield [(number, block)]
            block = ""
        literal = found.group("string") if found.group("string") is not None else found.group("raw")
        if literal is None:
            continue
        if not block:
            number = text.count("\n", 0, found.start()) + 1
        block += re.sub(r"\\(.)", lambda escape: ". " if escape.group(1) == "n" else escape.group(1), literal)
        end = found.end()
    if block:
        yield [(number, block)]


def check_code(path, text):
    """(line number, message) of everything that is wrong in comments and messages."""
    kind = path.rsplit(".", 1)[-1]
    blocks = list(comment_blocks(text, COMMENT[kind]))
    if kind in ("h", "cc") and re.search(r"(^|/)(src|include)/", path) and not re.search(r"_test\.\w+$|/testing/", path):
        blocks += [[(number, without_markup(one))] for ((number, one),) in literal_blocks(text) if " " in one]
    if path == WORDS:
        blocks += [[(number, literal)] for number, line in enumerate(text.splitlines(), 1) for literal in re.findall(r"[\'`]([^\'`]*)[\'`]", line) if " " in literal]
    found = []
    for block in blocks:
        found += check_phrases(block)
        found += [(number, f"a sentence of {len(words)} words (at most {MAX_WORDS}): {' '.join(words[:8])} …")
                  for number, words in sentences(block) if len(words) > MAX_WORDS and not block[0][1].startswith("{")]  # JSON
    return sorted(found)


def run_help(cairn, *command):
    done = subprocess.run([cairn, *command, "--help"], capture_output=True, text=True, timeout=30)
    if done.returncode != 0:
        sys.exit(f"cairn {' '.join(command)} --help: exit code {done.returncode}\n{done.stderr}")
    return done.stdout or done.stderr


def help_texts(cairn):
    """(name, text) of the help of cairn and of every command that it lists."""
    main = run_help(cairn)
    yield "cairn --help", main
    commands = sorted(set(re.findall(r"^  ([a-z][a-z-]+)(?: |$)", main, re.M)))
    if len(commands) < 10:
        sys.exit(f"cairn --help lists only {commands}")
    for command in commands:
        yield f"cairn {command} --help", run_help(cairn, command)


def self_test():
    """The fixture says itself which lines are wrong, so a lint that finds nothing fails here."""
    path = os.path.join(os.path.dirname(os.path.abspath(__file__)), "prose_lint_fixture.md")
    with open(path, encoding="utf-8") as file:
        text = file.read()
    expected = sorted((number, part.strip()) for number, line in enumerate(text.splitlines(), 1)
                      for marked in re.findall(r"<!-- expect: (.*?) -->", line) for part in marked.split(" | "))
    reported = check_markdown(text)
    seen = sorted((number, re.match(r'"(.*?)"|a sentence of \d+ words', message).group(0).strip('"')) for number, message in reported)
    if seen != expected or len(expected) < 10:
        sys.exit(f"self-test: {path} expects\n  {expected}\nbut the lint reported\n  {seen}")
    helped = check_help("cairn x\n\n  --as WHO    who asks, where nobody is\n              known\n  --max N     " + "word " * 40 + "\n")
    if [number for number, _ in helped] != [3, 3, 5]:
        sys.exit(f"self-test: the help text gave {helped}")
    code = ("// Whoever reads `nobody` goes\n// on.\nint a;  // for somebody\n//   nobody = 1;\n"
            'fail("it is fine; " + x + "nobody" " waits");\nname("nobody");\nchar c = \'"\';  // "under way"\n// ' + "word " * 40)
    checked = check_code("src/a.cc", code)
    if [number for number, _ in checked] != [1, 1, 3, 5, 8]:
        sys.exit(f"self-test: the code gave {checked}")


def main():
    if len(sys.argv) not in (2, 3):
        sys.exit("usage: prose_lint.py SOURCE_DIR [CAIRN]")
    self_test()
    source = sys.argv[1]
    files = [os.path.join(source, name) for name in ("README.md", "CONTRIBUTING.md", "CHANGELOG.md")]
    for folder in FOLDERS:
        files += sorted(glob.glob(os.path.join(source, folder, "**/*.md"), recursive=True))
    files = [path for path in files
             if not os.path.relpath(path, source).startswith(EXEMPT) and "node_modules" not in path]
    if len(files) < 30:
        sys.exit(f"{source} does not look like the source of cairn: only {files}")
    count = 0
    for path in files:
        with open(path, encoding="utf-8") as file:
            for number, message in check_markdown(file.read()):
                print(f"{os.path.relpath(path, source)}:{number}: {message}")
                count += 1
    code = [path for folder, kinds in CODE.items() for kind in kinds.split()
            for path in sorted(glob.glob(os.path.join(source, folder, f"**/*.{kind}"), recursive=True))
            if not os.path.relpath(path, source).startswith(EXEMPT) and "node_modules" not in path]
    if len(code) < 900:
        sys.exit(f"{source} does not look like the source of cairn: only {len(code)} files of code")
    for path in code:
        with open(path, encoding="utf-8") as file:
            for number, message in check_code(os.path.relpath(path, source), file.read()):
                print(f"{os.path.relpath(path, source)}:{number}: {message}")
                count += 1
    if len(sys.argv) == 3:
        for name, text in help_texts(sys.argv[2]):
            for number, message in check_help(text):
                print(f"{name}:{number}: {message}")
                count += 1
    print(f"{len(files) + len(code)} files, {count} findings")
    sys.exit(1 if count else 0)


main()
