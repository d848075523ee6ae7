#!/usr/bin/env python3
"""reference.py CAIRN SOURCE_DIR [--write]: the pages of docs/reference are what the program says about itself.

Commands and exit codes come from `--help` and src/cli/exit_code.h, settings from `cairn config show` and `cairn serve --help`, routes from
/openapi.json, metrics from /metrics, tables from the schema of PostgreSQL. --write (`./dev docs`) writes the pages; without it a page that
differs fails.
"""
import json, os, re, signal, subprocess, sys, tempfile, textwrap, urllib.request

cairn, source = os.path.abspath(sys.argv[1]), os.path.abspath(sys.argv[2])
MADE = "<!-- Made by ./dev docs; a change by hand is lost. -->"
ENVIRONMENT = {**{name: value for name, value in os.environ.items() if not name.startswith("CAIRN_")}, "NO_COLOR": "1", "COLUMNS": "120"}


def run(*command):
    done = subprocess.run([cairn, *command], capture_output=True, text=True, timeout=60, env=ENVIRONMENT, stdin=subprocess.DEVNULL)
    if done.returncode != 0:
        sys.exit(f"cairn {' '.join(command)}: exit code {done.returncode}\n{done.stderr}")
    return done.stdout


def read(path):
    with open(os.path.join(source, path), encoding="utf-8") as file:
        return file.read()


def cell(text):
    """Text for a table: names in code, no bars."""
    text = " ".join(text.split())
    return re.sub(r"(?<![`|])\|", r"\\|", text)


def table(*rows):
    lines = ["| " + " | ".join(row) + " |" for row in rows]
    lines.insert(1, "|" + " --- |" * len(rows[0]))
    return "\n".join(lines) + "\n"


def flags_of(text):
    """(flag, meaning) of the second half of a help text."""
    part = re.search(r"^Flags:\n((?:.+\n)+)", text, re.M)
    found = []
    for line in part.group(1).splitlines() if part else []:
        columns = re.match(r"  (-\S.*?)\s{2,}(\S.*)$", line)
        if columns:
            found.append([columns.group(1), columns.group(2)])
        elif found:
            found[-1][1] += " " + line.strip()
    return found


COMMON = ("--json", "--server URL", "--store URL", "--as USER", "--token-file FILE", "--ca-file FILE", "-h, --help", "--limit N", "--cursor CURSOR", "--columns NAMES")


def command_line():
    main = run("--help")
    page = f"""# Command line

{MADE}

`cairn COMMAND --help` prints the same, and `cairn help TOPIC` a page of this documentation. Commands for instances,
tasks, runs, schedules and dead letters work on a server (`--server`, `CAIRN_SERVER`) and on a local store (`--store`,
`CAIRN_STORE`).

## Exit codes

"""
    meanings = {"done": "done", "failed": "it failed: the message on standard error says why", "usage": "a wrong call, or an unreadable file",
                "not_found": "unknown instance, task, definition, …", "not_allowed": "no credential, or it may not do this",
                "not_completed": "the instance waits, failed or was cancelled", "conflict": "another request was first, or it has ended",
                "unreachable": "the server or the store cannot be reached", "invalid": "an invalid definition, input or setting",
                "timed_out": "it takes longer than `--wait`", "interrupted": "interrupted with Ctrl-C"}
    codes = re.findall(r"exit_(\w+) = (\d+)", read("src/cli/exit_code.h"))
    page += table(("code", "meaning"), *((number, meanings.get(name, name.replace("_", " "))) for name, number in codes))
    page += "\n## Flags that many commands have\n\n"
    seen = {}
    bodies = ""
    for heading, listed in re.findall(r"^([A-Z][\w ]+):\n((?:  .+\n)+)", main, re.M):
        bodies += f"\n## {heading}\n"
        for name in re.findall(r"^  ([a-z][a-z-]+) ", listed, re.M):
            text = run(name, "--help")
            summary, _, rest = text.partition("\n\n")
            usage = re.search(r"^Usage: ((?:.+\n)+)", rest, re.M).group(1)
            body = re.split(r"^(?:Flags|Examples):\n", rest[rest.index(usage) + len(usage):], flags=re.M)[0].strip()
            bodies += f"\n### cairn {name}\n\n{summary.strip()}.\n\n```text\n{usage.rstrip()}\n```\n"
            if body:
                bodies += "\n" + "\n\n".join(textwrap.fill(" ".join(one.split()), 118, break_long_words=False, break_on_hyphens=False) for one in re.split(r"\n(?=Exit codes?:|\n)", body)).replace("<", "&lt;") + "\n"
            flags = flags_of(text)
            for flag, meaning in flags:
                if flag in COMMON and name not in ("dev", "serve", "run", "config"):
                    seen.setdefault(flag, meaning)
            own = [(f"`{flag}`", cell(meaning)) for flag, meaning in flags if flag not in COMMON]
            if name == "config":
                own = []
                bodies += "\nThe flags are those of [`cairn serve`](#cairn-serve).\n"
            if name == "serve":
                own = own[:1]
                bodies += "\nEach setting is a flag, too: [settings](settings.md).\n"
            if own:
                bodies += "\n" + table(("flag", "meaning"), *own)
            examples = re.search(r"^Examples:\n((?:  .+\n)+)", text, re.M)
            if examples:
                bodies += "\n```text\n" + "\n".join(line[2:] for line in examples.group(1).splitlines()) + "\n```\n"
    page += table(("flag", "meaning"), *((f"`{flag}`", cell(seen[flag])) for flag in COMMON if flag in seen))
    return page + bodies


def settings():
    values = json.loads(run("config", "show", "--store", "memory:", "--json"))
    meanings = {flag.split()[0][2:]: text for flag, text in flags_of(run("serve", "--help"))}
    page = f"""# Settings

{MADE}

Each setting has one name and three sources: the flag `--tls-key`, the variable `CAIRN_TLS_KEY`, and `key` in the table
`[tls]` of the settings file (`--config`, `CAIRN_CONFIG`). Flags override variables, and variables override the file.
`cairn config show` prints every value and where it comes from. A secret may be in a file of its own: `store_file`,
`CAIRN_STORE_FILE`. The tables `[config]`, `[secrets]`, `[events]` and `[[hooks]]` are described in
[running a server](../server.md#settings) and [events](../events.md#settings).
"""
    groups = {}
    for flag in (one[0].split()[0][2:] for one in flags_of(run("serve", "--help"))):
        name = next((name for name in values if name.replace(".", "-").replace("_", "-") == flag), None)
        if name:
            groups.setdefault(name.split(".")[0] if "." in name else "", []).append((name, flag))
    listed = {name for group in groups.values() for name, _ in group}
    if set(values) != listed:
        sys.exit(f"these settings have no flag: {sorted(set(values) - listed)}")
    for group, names in groups.items():
        page += f"\n## {'The server' if not group else f'`[{group}]`'}\n\n"
        rows = []
        for name, flag in names:
            default = "required" if name == "store" else values[name]["value"]
            rows.append((f"`{name}`", f"`{default}`" if default and name != "store" else default, cell(meanings[flag])))
        page += table(("setting", "default", "meaning"), *rows)
    return page


class Server:
    def __enter__(self):
        self.folder = tempfile.TemporaryDirectory()
        self.process = subprocess.Popen([cairn, "serve", "--store", "memory:", "--auth", "none", "--listen", "127.0.0.1:0", "--otlp-endpoint", "http://127.0.0.1:1",
                                         "--drain-delay", "0s", "--confine", "no"], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, env=ENVIRONMENT, cwd=self.folder.name)
        for line in self.process.stdout:
            found = re.search(r"http://127.0.0.1:(\d+)", line)
            if found:
                self.port = found.group(1)
                return self
        sys.exit("the server does not start")

    def get(self, path):
        with urllib.request.urlopen(f"http://127.0.0.1:{self.port}{path}", timeout=30) as answer:
            return answer.read().decode()

    def __exit__(self, *_):
        self.process.send_signal(signal.SIGKILL)
        self.process.wait()
        self.folder.cleanup()


def http_api(server):
    document = json.loads(server.get("/openapi.json"))
    page = f"""# HTTP API

{MADE}

Every server answers `/openapi.json`: this list with the schema of each body and answer, made from the same table as
the router and the permissions. [Requests](../server.md#requests) has the rules for all of them: idempotency keys,
`If-Match`, lists, filters. [Errors](../errors.md) lists the problems.

A credential is an API key or a token: `Authorization: Bearer …`. [Security](../security.md#who-may-do-what) says which
role has which permission.
"""
    groups = {}
    for path, methods in document["paths"].items():
        for method, one in methods.items():
            if method in ("get", "post", "put", "patch", "delete"):
                groups.setdefault(one["tags"][0], []).append((path, method.upper(), one))
    for tag, routes in groups.items():
        page += f"\n## {tag[0].upper() + tag[1:]}\n\n"
        page += table(("request", "what it does", "permission"), *(
            (f"`{method} {path}`", cell(one["summary"]), f"`{one['x-permission']}`" if one["x-permission"] != "open" else "none") for path, method, one in routes))
    return page


def metrics(server):
    text = server.get("/metrics")
    rows = []
    for name, meaning in re.findall(r"^# HELP (\S+) (.*)$", text, re.M):
        kind = re.search(rf"^# TYPE {name} (\w+)$", text, re.M).group(1)
        rows.append((f"`{name}`", kind, cell(meaning)))
    return f"""# Metrics

{MADE}

`GET /metrics` answers in the format of Prometheus (permission `view`). [What to watch](../server.md#what-to-watch)
explains the labels, what is counted by the node and what by the store, and which lines of the log belong to which
counter.
[deploy/alerts.yml](../../deploy/alerts.yml) has alerts.

""" + table(("metric", "kind", "meaning"), *rows)


def tables():
    text = read("src/store/postgres/sql/schema.sql")
    rows = {"TABLE": [], "VIEW": []}
    for comment, kind, name in re.findall(r"((?:^--(?! Conventions)[^\n]*\n)*)^CREATE (TABLE|VIEW) cairn\.(\w+)", text, re.M):
        lines = [line[2:].strip() for line in comment.splitlines()]
        words = " ".join(line for line in lines if not re.fullmatch(r"[\w ]*-{5,}", line))
        first = re.split(r"(?<=[.!?]) (?=[A-Z`])", words)
        rows[kind].append((name, cell(" ".join(first[:2])) or "see the comments of its columns"))
    views = {"wf_instances": "One row for each instance, with its state, input and output.", "wf_execution_log": "The history: one row for each entry.",
             "wf_waits": "One row for each open wait.", "wf_activities": "One row for each visit of a step that waited, called or failed."}
    return f"""# Tables

{MADE}

[schema.sql](../../src/store/postgres/sql/schema.sql) describes every column. The tables of SQLite have the same names
([schema.sql](../../src/store/sqlite/sql/schema.sql)).

Programs may read everything. They may write `workflow_run`, `workflow_event` and `outbox_event`:
[programs that use SQL](../operations/postgresql.md#programs-that-use-sql). For reports use the views:
[reports with SQL](../operations/postgresql.md#reports-with-sql) has their columns.

## Views

""" + table(("view", "what it has"), *((f"`{name}`", views.get(name, meaning)) for name, meaning in rows["VIEW"])) + "\n## Tables\n\n" + table(
        ("table", "what it has"), *((f"`{name}`", meaning) for name, meaning in rows["TABLE"]))


with Server() as server:
    pages = {"command-line": command_line(), "settings": settings(), "http-api": http_api(server), "metrics": metrics(server), "tables": tables()}
wrong = 0
for name, text in pages.items():
    path = os.path.join(source, f"docs/reference/{name}.md")
    if "--write" in sys.argv:
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
    elif not os.path.exists(path) or read(f"docs/reference/{name}.md") != text:
        old = read(f"docs/reference/{name}.md").splitlines() if os.path.exists(path) else []
        line = next((number for number, (a, b) in enumerate(zip(old, text.splitlines()), 1) if a != b), min(len(old), len(text.splitlines())) + 1)
        print(f"docs/reference/{name}.md:{line}: the program says something else now; run `./dev docs`")
        wrong += 1
if len(re.findall(r"^### cairn", pages["command-line"], re.M)) < 30 or pages["settings"].count("\n| `") < 80 or pages["http-api"].count("\n| `") < 70:
    sys.exit("too little was found: a pattern is wrong")
print(f"{len(pages)} pages, {wrong} problems")
sys.exit(1 if wrong else 0)
