#!/usr/bin/env python3
"""examples_test.py CAIRN SOURCE_DIR [--show | --fill | --refresh] [PAGE…]: every block of the pages in FOLDERS and PAGES does what the page says.

Each page gets a folder of its own, with links to examples/, clients/ and deploy/, and one shell for all of its commands.

- ```yaml NAME (also json, toml, python, js, sh …) is a file of that name, which later commands use. Definitions must be valid. Readers must see
  the name: in the text before, or in a comment as the first line.
- ```console is a session: a line `$ COMMAND` (continued with a backslash) and what it prints on a terminal. `…` stands for any
  text, `0190…` for an id, a line `…` for any lines, and a number of seconds or a time for any other one (a time in quotes must be
  right). A command must end with 0, unless the next one is `echo $?`. `ID` in a command is the id that was printed last.
- ```sh has commands without their output. They must end with 0.
- ```yaml without a name is a definition, or a part of one: steps, or keys of the document. It must be valid.
- ```json and ```toml without a name must be readable; ```cpp must be an excerpt of a source that another test builds.
- `cairn dev`, `cairn serve` and workers run in the background until the page ends. `pkill` ends those of the page only.

The ports 8400 and 8401 are exchanged for free ones, and postgres://cairn@db.example/cairn for a database of the page. Blocks that cannot
run are in SKIPPED, each with its reason; a reason that is not needed fails too. For authors: --show prints the sessions, --fill writes the output of
commands that show none into the page, and --refresh writes output that has a `…` again.
"""
import concurrent.futures, fcntl, glob, json, os, pty, re, select, shutil, signal, socket, struct, subprocess, sys, tempfile, termios, threading, time

FOLDERS = ["docs/tutorial", "docs/how-to", "docs/concepts", "docs/operations"]
PAGES = ["README.md", "docs/README.md", "docs/comparison.md", "docs/faq.md", "docs/questions.md", "docs/performance.md", "docs/measuring.md", "CONTRIBUTING.md", "examples/README.md"]
# Pages with a check of their own.
ELSEWHERE = {
    "docs/operations/postgresql.md": "tests/postgres/recipes_test.py runs its SQL",
    "docs/operations/sqlite.md": "tests/http/reports_test.py runs its SQL",
}
# (page, beginning of the block) → why it does not run here.
BUILDS = "it installs packages and builds the program, which the test of ./dev in a fresh Debian does"
SKIPPED = {
    ("README.md", "./dev build"): BUILDS,
    ("CONTRIBUTING.md", "./dev build"): BUILDS,
    ("CONTRIBUTING.md", "ninja -C"): "it compiles",
    ("docs/how-to/install.md", "./dev build"): BUILDS,
    ("docs/measuring.md", "build/release/bench"): "it measures; a test machine is not quiet",
    ("docs/how-to/install.md", "cmake --install"): "it installs below /usr/local; tests/embed installs into a folder of its own",
    ("docs/how-to/run-behind-a-proxy.md", "location /cairn/"): "nginx is not a dependency of the tests; tests/http/console_test.py has both kinds of proxy",
}
CODE_IN = ["examples/embed/*.cc", "examples/embed/*.txt", "examples/embed/*.h", "include/cairn/*.h", "tests/roundtrip/*.cc", "tests/docs/*.cc"]
BACKGROUND = re.compile(r"^(?:\w+=\S+ )*(?:cairn (?:serve|dev)\b(?! time| .*--help)|(?:python3|node) \S*(?:worker|receiver)\S*)")
LOOKS = re.compile(r"^(?:\w+=\S+ )*(?:cairn (?:show|why|list|tasks|history|dead|runs list|signals|schedules (?:list|show)|definitions|audit list|keys list|doctor|state)\b"
                   r"|curl -s[S]? (?:-H \S+ )?['\"]?(?:http://)?localhost|cat \S+\.log)")
SECONDS = 90
SECONDS_TO_HAPPEN = 20
MARK = "\x1e"
ID = re.compile(r"\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b")
TIME = re.compile(r"(?<![\"\w])\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z(?!\")")  # a time without quotes is that of a run
ANY_TIME = TIME.pattern
LENGTH = re.compile(r"\b\d+(?:\.\d+)?(?:ms|s)\b")  # ages and durations, which differ from run to run


class Block:
    def __init__(self, page, line, info, text, before=""):
        self.page, self.line, self.text, self.before = page, line, text, before
        self.kind, _, self.name = info.strip().partition(" ")
        self.place = f"{page}:{line}"


def blocks_of(page, text):
    """The fenced blocks of a page, also those that are indented in a list."""
    opened, body = None, []
    for number, line in enumerate(text.splitlines(), 1):
        fence = re.match(r"^(\s*)(`{3,})(.*)$", line)
        if opened is None and fence:
            opened, body = (number, fence.group(1), fence.group(2), fence.group(3)), []
        elif opened and line.strip() == opened[2]:
            yield Block(page, opened[0], opened[3], "\n".join(body) + "\n", "\n".join(text.splitlines()[max(0, opened[0] - 6):opened[0] - 1]))
            opened = None
        elif opened:
            body.append(line[len(opened[1]):] if line.startswith(opened[1]) else line.lstrip())


def commands_of(block):
    """(line, command, expected lines) of a session, or (line, whole text, None) of a script."""
    if block.kind != "console":
        yield block.line + 1, block.text, None
        return
    lines, at = block.text.rstrip("\n").split("\n"), 0
    while at < len(lines):
        if not lines[at].startswith("$ "):
            if lines[at].strip():
                raise ValueError(f"{block.place}: a session begins with `$ `: {lines[at]!r}")
            at += 1
            continue
        begin, command = block.line + 1 + at, lines[at][2:]
        here = re.search(r"<<'?(\w+)'?", command)
        while command.endswith("\\") or (here and lines[at].strip() != here.group(1)) or command.count("'") % 2:
            at += 1
            command += "\n" + lines[at]
        at += 1
        expected = []
        while at < len(lines) and not lines[at].startswith("$ "):
            expected.append(lines[at].rstrip())
            at += 1
        while expected and not expected[-1]:
            expected.pop()
        yield begin, command, expected


def matches(expected, printed):
    """Whether the printed lines are the expected ones, where `…` is any text and a line `…` any lines."""
    pattern = ""
    for line in expected:
        if line.strip() == "…":
            pattern += r"(?:[^\n]*\n)*?"
        else:
            # Widths of columns differ with the times and ids in them.
            words = [ANY_TIME.join(LENGTH.pattern.join(r"[^\n]*?".join(re.escape(part) for part in between.split("…")) for between in LENGTH.split(other))
                                   for other in TIME.split(word.replace("0190…", "…"))) for word in line.split()]
            pattern += r"[ \t]*" + r"[ \t]+".join(words) + r"[ \t]*\n"
    return re.fullmatch(pattern, "".join(line + "\n" for line in printed)) is not None


def same_lines(expected, printed):
    """The same in any order, for lists that are in the order of random ids."""
    left = list(printed)
    for line in expected:
        found = next((one for one in left if matches([line], [one])), None)
        if found is None:
            return False
        left.remove(found)
    return not left


def without_chance(line):
    """A line of output as a page shows it: ids, hashes and host names are those of a run."""
    line = re.sub(r"(?<=duration_ms\":)\d+|(?<=schema )\d+|(?<=\")\d{4}-\d\d-\d\dT[\d:.]+Z|\b[0-9a-f]{12}(?:[0-9a-f]{52})?\b|\bvm-[0-9a-f]+", "…", ID.sub("0190…", line))
    return line.replace("ID" + " " * 36, "ID     ")


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


class Postgres:
    """One throw-away server for all pages, started when the first page asks for it."""
    lock, folder, count, own = threading.Lock(), None, 0, False

    @classmethod
    def new_database(cls, source):
        with cls.lock:
            if cls.folder is None:
                cls.folder = tempfile.mkdtemp(prefix="cairn-docs-pg-", dir="/tmp")
                cls.script = os.path.join(source, "tests/postgres/throwaway.sh")
                cls.own = True
                subprocess.run([cls.script, "start", cls.folder, "quick"], check=True)
            cls.count += 1
            name = f"docs{cls.count}"
            subprocess.run(["psql", "-q", "-h", cls.folder, "-U", "cairn", "cairn", "-c", f"CREATE DATABASE {name}"], check=True, stdout=subprocess.DEVNULL)
            return f"postgresql:///{name}?host={cls.folder}&user=cairn"

    @classmethod
    def stop(cls):
        if cls.own:
            subprocess.run([cls.script, "stop", cls.folder], check=False)


class Page:
    def __init__(self, cairn, source, page, show):
        self.cairn, self.source, self.page, self.show = cairn, source, page, show
        self.wrong, self.said, self.used = [], [], set()
        self.filled = {}  # number of a line → what the command that ends there prints
        self.last_id = ""
        self.refresh = "--refresh" in sys.argv
        self.count = self.children = 0
        self.background = []

    def run(self):
        with open(os.path.join(self.source, self.page), encoding="utf-8") as file:
            text = file.read()
        self.folder = tempfile.mkdtemp(prefix="cairn-docs-")
        try:
            self.ports = {"8400": str(free_port()), "8401": str(free_port()), "8402": str(free_port())}
            self.places = dict(self.ports)
            if "postgres://cairn@db.example/cairn" in text and not glob.glob("/usr/lib/postgresql/*/bin/initdb"):
                print(f"{self.page}: PostgreSQL is not installed, skipped")
                return self
            if "postgres://cairn@db.example/cairn" in text:
                self.places["postgres://cairn@db.example/cairn"] = Postgres.new_database(self.source)
            for name in ("examples", "clients", "deploy"):
                os.symlink(os.path.join(self.source, name), os.path.join(self.folder, name))
            os.makedirs(os.path.join(self.folder, ".bin"))
            os.symlink(self.cairn, os.path.join(self.folder, ".bin/cairn"))
            self.start_shell()
            for block in blocks_of(self.page, text):
                self.count += 1
                self.check(block)
        finally:
            self.end()
            shutil.rmtree(self.folder, ignore_errors=True)
        return self

    def fail(self, place, why):
        self.wrong.append(f"{place}: {why}")

    def skipped(self, block):
        for (page, beginning), _ in SKIPPED.items():
            if page == block.page and block.text.startswith(beginning):
                self.used.add((page, beginning))
                return True
        return False

    def exchange(self, text, back=False):
        for shown, real in self.places.items():
            text = text.replace(real, shown) if back else text.replace(shown, real)
        return text

    def check(self, block):
        if self.skipped(block):
            return
        text = self.exchange(block.text)
        if block.kind in ("console", "sh") and not block.name:
            listed = list(commands_of(block))
            if not block.text.strip():
                self.fail(block.place, "this session has no command")
            for at, (line, command, expected) in enumerate(listed):
                then = listed[at + 1][1] if at + 1 < len(listed) else ""
                self.command(f"{block.page}:{line}", command, expected, then.startswith("echo $?"))
            return
        if block.kind == "cpp":
            code = " ".join(block.text.split())
            sources = [" ".join(open(path, encoding="utf-8").read().split()) for one in CODE_IN for path in glob.glob(os.path.join(self.source, one))]
            if not any(code in one for one in sources):
                self.fail(block.place, "this C++ is no excerpt of a file in " + ", ".join(CODE_IN))
            return
        if block.name:
            if f"`{block.name}`" not in block.before and not re.match(rf"(#|//|--) {re.escape(block.name)}\n", block.text):
                self.fail(block.place, f"readers do not see the name of this file: say `{block.name}` before it, or in its first line")
            path = os.path.join(self.folder, block.name)
            os.makedirs(os.path.dirname(path), exist_ok=True)
            with open(path, "w", encoding="utf-8") as file:
                file.write(text)
            os.chmod(path, 0o600)
        try:
            if block.kind == "json":
                json.loads(text)
            elif block.kind == "yaml":
                if not block.name.endswith(".test.yaml") and (not block.name or re.match(r"(#.*\n)*cairn: ", text)):
                    self.validate(block, text)
            elif block.kind == "toml":
                import tomllib
                tomllib.loads(text)
            elif block.kind == "python":
                compile(text, block.name or "block", "exec")
            elif block.kind in ("js", "sh", "sql", "csv") and block.name:
                pass
            else:
                self.fail(block.place, f"a block of kind {block.kind!r} without a check: give it a name, another kind, or a reason in SKIPPED")
        except Exception as error:
            self.fail(block.place, f"{type(error).__name__}: {error}")

    def validate(self, block, text):
        if not re.match(r"(#.*\n)*cairn: ", text):
            body = text
            if re.match(r"\s*(#.*\n)*- ", text):
                body = "steps:\n" + text
            head = "cairn: 1\nname: part\nversion: 1.0.0\n"
            for key, line in (("input", "input: { type: object }\n"), ("reference", "reference: { key: part }\n"), ("steps", "steps: [ { set: { done: true } } ]\n")):
                if not re.search(rf"^{key}:", body, re.M):
                    head += line
            text = head + body
        with tempfile.NamedTemporaryFile("w", suffix=".yaml", encoding="utf-8") as file:
            file.write(text)
            file.flush()
            done = subprocess.run([self.cairn, "validate", file.name], capture_output=True, text=True, timeout=SECONDS)
        if done.returncode != 0:
            self.fail(block.place, done.stderr)

    # --- the shell ------------------------------------------------------------------------------------------------------
    def start_shell(self):
        master, slave = pty.openpty()
        fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", 50, 140, 0, 0))
        settings = termios.tcgetattr(slave)
        settings[1] &= ~termios.OPOST
        termios.tcsetattr(slave, termios.TCSANOW, settings)
        environment = {"PATH": f"{self.folder}/.bin:{os.environ['PATH']}", "HOME": self.folder, "LANG": "C.UTF-8", "TERM": "dumb", "NO_COLOR": "1", "TZ": "UTC",
                       "CAIRN_DRAIN_DELAY": "0s", "PYTHONUNBUFFERED": "1", "TMPDIR": os.environ.get("TMPDIR", "/tmp")}
        self.shell = subprocess.Popen(["bash", "--norc", "--noprofile"], stdin=subprocess.PIPE, stdout=slave, stderr=slave, cwd=self.folder, env=environment,
                                      start_new_session=True)
        os.close(slave)
        self.output = master
        self.say('pkill() { local signal=-15 one; [ "${1#-}" = "$1" ] || signal=$1; for one in $(cat "$HOME/.pids" 2>/dev/null); do kill $signal $one 2>/dev/null; '
                 'while kill -0 $one 2>/dev/null; do read -t 0.02 <> <(:); done; done; : > "$HOME/.pids"; }\n_code=0')

    def say(self, command):
        """Runs the command in the shell; returns its exit code and what it printed, or nothing after too long."""
        script = os.path.join(self.folder, ".command")
        with open(script, "w", encoding="utf-8") as file:
            file.write(f"(exit $_code)\n{command}\n")
        self.shell.stdin.write(f". {script} </dev/null; _code=$?; printf '{MARK}%d\\n' $_code\n".encode())
        self.shell.stdin.flush()
        text, deadline = "", time.monotonic() + SECONDS
        while True:
            found = re.search(MARK + r"(\d+)\n", text)
            if found:
                # The shell may say that a command in the background was killed, at a moment of its own.
                return int(found.group(1)), re.sub(r"(?m)^.*: line \d+: +\d+ (Killed|Terminated) .*\n", "", text[: found.start()])
            left = deadline - time.monotonic()
            if left <= 0 or not select.select([self.output], [], [], left)[0]:
                return None, text
            text += os.read(self.output, 65536).decode("utf-8", "replace")

    def command(self, place, command, expected, may_fail):
        last_line = int(place.rsplit(":", 1)[1]) + command.count("\n")
        command = self.exchange(command)
        if expected is not None:
            command = re.sub(r"\bID\b", self.last_id or "ID", command)
        if BACKGROUND.match(command):
            return self.start(place, command, expected)
        deadline = time.monotonic() + SECONDS_TO_HAPPEN
        while True:
            code, printed = self.say(command)
            lines = [line.split("\r")[-1].rstrip() for line in self.exchange(printed, back=True).replace(self.folder, "~").split("\n")]
            lines = [line for line in lines if " info postgres.listening " not in line]  # which a short command may be too quick for
            while lines and not lines[-1]:
                lines.pop()
            # What a reader sees a moment later: the command before has caused it.
            if not expected or not LOOKS.match(command) or matches(expected, lines) or code is None or time.monotonic() > deadline:
                break
            select.select([], [], [], 0.1)
        for found in ID.finditer(printed):
            self.last_id = found.group(0)
        self.said.append(f"$ {command}\n" + "".join(line + "\n" for line in lines) + (f"[{code}]\n" if code else ""))
        if code is None:
            self.fail(place, f"`{command[:100]}` does not end\n{printed[-2000:]}{self.logs()}")
        elif code != 0 and not may_fail:
            self.fail(place, f"`{command[:200]}` ends with {code}\n{printed[-2000:]}{self.logs()}")
        elif expected == [] and lines:
            shown = [without_chance(line) for line in lines]
            if len(shown) > 30:
                shown = shown[:8] + ["…"]
            self.filled[last_line] = 0, shown
            self.fail(place, f"`{command[:200]}` prints\n" + "\n".join(lines) + "\nwhich the page does not show")
        elif self.refresh and expected and any("…" in line for line in expected) and "…" not in expected and matches(expected, lines):
            self.filled[last_line] = len(expected), [without_chance(line) for line in lines]
        elif expected is not None and not matches(expected, lines) and not (" keys list" in command and same_lines(expected, lines)):
            self.fail(place, f"`{command[:200]}` prints\n" + "\n".join(lines) + "\ninstead of\n" + "\n".join(expected))

    def write(self):
        path = os.path.join(self.source, self.page)
        with open(path, encoding="utf-8") as file:
            lines = file.read().split("\n")
        for number in sorted(self.filled, reverse=True):
            first = next(at for at in range(number - 1, -1, -1) if lines[at].lstrip().startswith("$ "))
            indent, (count, shown) = re.match(r" *", lines[first]).group(0), self.filled[number]
            lines[number:number + count] = [(indent + line).rstrip() for line in shown]
        with open(path, "w", encoding="utf-8") as file:
            file.write("\n".join(lines))

    def logs(self):
        text = ""
        for log, _, _ in self.background:
            text += "\n--- " + open(log, encoding="utf-8", errors="replace").read()[-1500:]
        return text

    def start(self, place, command, expected):
        """A server or a worker: ready when it says so or when its port takes connections."""
        self.children += 1
        log = os.path.join(self.folder, f".log{self.children}")
        is_server = re.search(r"\bcairn (serve|dev)\b", command)
        port = None
        if is_server:
            named = re.search(r"--listen (?:\S+:)?(\d+)", command)
            port = int(named.group(1) if named else self.ports["8400"])
            if not named and "--config" not in command and "CAIRN_LISTEN" not in command:
                command += f" --listen 127.0.0.1:{port}"
        command = command.rstrip("& \n")
        open(log, "w", encoding="utf-8").close()
        code, printed = self.say(f"{command} >{log} 2>&1 </dev/null &\necho $! >> $HOME/.pids; echo $!")
        process = printed.strip().split("\n")[-1]
        self.background.append((log, process, command))
        deadline = time.monotonic() + SECONDS
        ready = False
        while not ready and time.monotonic() < deadline:
            text = open(log, encoding="utf-8", errors="replace").read()
            if not os.path.exists(f"/proc/{process}"):
                break
            if is_server:
                ready = bool(re.search(r"(?:is ready at|serves on) https?://", text))
            else:
                ready = True
            if not ready:
                select.select([], [], [], 0.05)
        self.said.append(f"$ {command} &\n{text}")
        if not ready:
            self.fail(place, f"`{command}` does not start:\n{text[-2000:]}")
        elif expected:
            lines = [line.rstrip() for line in self.exchange(text, back=True).replace(self.folder, "~").strip().split("\n")]
            if not matches(expected, lines):
                self.fail(place, f"`{command}` prints\n" + "\n".join(lines) + "\ninstead of\n" + "\n".join(expected))

    def end(self):
        try:
            os.killpg(self.shell.pid, signal.SIGKILL)
        except (AttributeError, ProcessLookupError):
            pass
        if hasattr(self, "shell"):
            self.shell.wait()
            os.close(self.output)


def self_test():
    """The check itself can fail."""
    assert matches(["a … c", "…", "z"], ["a b c", "1", "2", "z"]) and not matches(["a"], ["a", "b"]) and matches(["x  y"], ["x y"])
    assert matches(["at 2026-11-19T04:30:25.1Z, x"], ["at 2027-01-01T00:00:00Z, x"]) and not matches(['"2026-11-19T04:30:25Z"'], ['"2027-01-01T00:00:00Z"'])
    assert matches(["(for 0s). 12ms"], ["(for 21s). 1.5s"]) and not matches(["(for 0s)"], ["(for 1d)"])
    assert not matches(["a … c"], ["a b d"]) and matches(["0190…  waiting"], ["01901234 waiting"])
    found = list(blocks_of("p", "text\n```yaml a.yaml\nx: 1\n```\n- item\n\n  ```console\n  $ echo 1\n  1\n  ```\n"))
    assert [(one.kind, one.name, one.line) for one in found] == [("yaml", "a.yaml", 2), ("console", "", 7)], [(one.kind, one.name, one.line) for one in found]
    assert list(commands_of(found[1])) == [(8, "echo 1", ["1"])]
    assert BACKGROUND.match("cairn dev order.yaml") and not BACKGROUND.match("cairn dev time +2d") and not BACKGROUND.match("cairn dev --help")


def self_test_faults(cairn, source):
    """A page with faults: each is reported."""
    with tempfile.TemporaryDirectory() as folder:
        faulty = {"not what it prints": "```console\n$ echo a\nb\n```\n", "ends with": "```sh\nfalse\n```\n", "error": "```yaml\n- tsk: { name: A }\n```\n",
                  "JSONDecodeError": "```json\n{,}\n```\n", "without a check": "```text\nx\n```\n", "no excerpt": "```cpp\nint never_in_the_tree;\n```\n"}
        for name in ("examples", "clients", "deploy"):
            os.symlink(os.path.join(source, name), os.path.join(folder, name))
        for at, (why, text) in enumerate(faulty.items()):
            with open(os.path.join(folder, "page.md"), "w", encoding="utf-8") as file:
                file.write(text)
            checked = Page(cairn, folder, "page.md", False).run()
            why = "instead of" if at == 0 else why
            assert len(checked.wrong) == 1 and why in checked.wrong[0], (why, checked.wrong)


def main():
    arguments = [one for one in sys.argv[1:] if one not in ("--show", "--fill", "--refresh")]
    show, fill = "--show" in sys.argv, "--fill" in sys.argv or "--refresh" in sys.argv
    cairn, source = os.path.abspath(arguments[0]), os.path.abspath(arguments[1])
    self_test()
    pages = arguments[2:]
    if not pages:
        self_test_faults(cairn, source)
        pages = [one for one in PAGES if os.path.exists(os.path.join(source, one))]
        for folder in FOLDERS:
            pages += sorted(os.path.relpath(path, source) for path in glob.glob(os.path.join(source, folder, "*.md")))
    pages = [page for page in pages if page not in ELSEWHERE]
    wrong, count, used = [], 0, set()
    try:
        with concurrent.futures.ThreadPoolExecutor(3) as pool:
            for checked in pool.map(lambda page: Page(cairn, source, page, show).run(), pages):
                wrong += checked.wrong
                count += checked.count
                used |= checked.used
                if show:
                    print("\n".join([f"== {checked.page}"] + checked.said))
                if fill and checked.filled:
                    checked.write()
    finally:
        Postgres.stop()
    if len(arguments) == 2:
        wrong += [f"SKIPPED names a block that does not exist: {page}: {beginning!r}" for page, beginning in SKIPPED if (page, beginning) not in used]
    for one in wrong:
        print(one)
    print(f"{len(pages)} pages, {count} blocks, {len(used)} that cannot run here, {len(wrong)} problems")
    sys.exit(1 if wrong else 0)


main()
