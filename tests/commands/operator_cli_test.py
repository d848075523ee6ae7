#!/usr/bin/env python3
"""operator_cli_test.py CAIRN SOURCE_DIR: the commands of an operator against a server: TLS, lists, id prefixes, audit filters, reports, closed pipes."""
import datetime, json, os, subprocess, sys, tempfile
sys.path.insert(0, os.path.join(os.path.abspath(sys.argv[2]), "tests/http"))
from served import Served, expect, finish

cairn = os.path.abspath(sys.argv[1])
CLEAN = {name: value for name, value in os.environ.items() if not name.startswith(("CAIRN_", "SSL_CERT"))}
folder = tempfile.TemporaryDirectory()


def run(*arguments, **environment):
    return subprocess.run([cairn, *arguments], capture_output=True, text=True, timeout=120, env={**CLEAN, **environment})


def at(row):  # texts do not compare: a fraction ends at its last digit that is not 0
    whole, _, fraction = row["at"].removesuffix("Z").partition(".")
    return datetime.datetime.fromisoformat(whole), float("0." + (fraction or "0"))


def certificate(name, host):
    key, pem = os.path.join(folder.name, name + ".key"), os.path.join(folder.name, name + ".pem")
    subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2", "-keyout", key, "-out", pem,
                    "-subj", "/CN=" + host, "-addext", "subjectAltName=" + host], check=True, capture_output=True)
    return pem, key


# TLS: every way to name the authority, and errors that say what is wrong.
pem, key = certificate("right", "IP:127.0.0.1")
other, other_key = certificate("other", "DNS:elsewhere.example")
server = Served(cairn, "--tls-certificate", pem, "--tls-key", key)
url, token = f"https://127.0.0.1:{server.port}", server.keys["admin"]
answer = run("list", "--server", url, CAIRN_TOKEN=token)
expect("an unknown authority is named as the reason", answer.returncode == 7 and "not trusted" in answer.stderr and "--ca-file" in answer.stderr, answer.stderr)
expect("--ca-file", run("list", "--server", url, "--ca-file", pem, CAIRN_TOKEN=token).returncode == 0)
expect("CAIRN_CA_FILE", run("list", "--server", url, CAIRN_TOKEN=token, CAIRN_CA_FILE=pem).returncode == 0)
expect("SSL_CERT_FILE", run("list", "--server", url, CAIRN_TOKEN=token, SSL_CERT_FILE=pem).returncode == 0)
answer = run("list", "--server", url, "--ca-file", os.path.join(folder.name, "none.pem"), CAIRN_TOKEN=token)
expect("a file that does not exist", answer.returncode == 3 and "none.pem" in answer.stderr, answer.stderr)
answer = run("list", "--server", url, "--ca-file", key, CAIRN_TOKEN=token)
expect("a file without a certificate", answer.returncode == 7 and "authorities cannot be read" in answer.stderr and "PEM" in answer.stderr and
       "Is the server running" not in answer.stderr, answer.stderr)
answer = run("list", "--server", url.replace("https", "http"), CAIRN_TOKEN=token)
expect("http to a port with TLS", answer.returncode == 7 and "https://" in answer.stderr, answer.stderr)
expect("the server ends with 0", server.end() == 0, server.said)
server.start("--tls-certificate", other, "--tls-key", other_key)
answer = run("list", "--server", f"https://127.0.0.1:{server.port}", "--ca-file", other, CAIRN_TOKEN=token)
expect("a certificate for another name", answer.returncode == 7 and "not for 127.0.0.1" in answer.stderr, answer.stderr)
server.end()
server.start()
url = f"http://127.0.0.1:{server.port}"
answer = run("list", "--server", url.replace("http", "https"), CAIRN_TOKEN=token)
expect("https to a port without TLS", answer.returncode == 7 and "handshake" in answer.stderr, answer.stderr)

here = {"CAIRN_SERVER": url, "CAIRN_TOKEN": token}
DEFINITION = "cairn: 1\nname: t.wait\nversion: 1.0.0\nsteps: [ { task: { name: Review } }, { call: { worker: { type: demo.x } } } ]\n"
server.call("POST", "/v1/definitions", text=DEFINITION, **{"content-type": "application/yaml"})
ids = [server.call("POST", "/v1/instances", {"definition": "t.wait", "id": f"order-{n}-instance"}).json["id"] for n in range(3)]
runs = [server.call("POST", "/v1/runs", {"type": "demo.a"}).json["id"] for n in range(3)]
server.call("PUT", "/v1/run-types/demo.a", {"paused": True})
server.call("PUT", "/v1/run-types/demo.b", {"concurrency": 3})
for n in range(2):
    server.call("POST", "/v1/schedules", {"name": f"nightly-{n}", "cron": "0 2 * * *", "start": {"definition": "t.wait"}})
task = server.call("GET", "/v1/tasks").json["items"][0]["id"]
server.call("POST", f"/v1/tasks/{task}/comment", {"comment": "hm"})

# Every list: --json with next_cursor, --limit, --columns.
for words in (["list"], ["tasks"], ["runs"], ["schedules"], ["audit", "list"], ["runs", "types"], ["keys", "list"], ["task", "events", task],
              ["history", ids[0]]):
    name = " ".join(words)
    answer = run(*words, "--json", **here)
    everything = json.loads(answer.stdout)
    expect(f"{name} --json", answer.returncode == 0 and len(everything["items"]) > 1 and everything["next_cursor"] is None, answer.stdout + answer.stderr)
    first = json.loads(run(*words, "--json", "--limit", "1", **here).stdout)
    expect(f"{name} --limit", first["items"] == everything["items"][:1], first)
    expect(f"{name} next_cursor", first["next_cursor"] is not None, first)
    rest = json.loads(run(*words, "--json", "--cursor", first["next_cursor"], **here).stdout)
    expect(f"{name} --cursor", first["items"] + rest["items"] == everything["items"] and rest["next_cursor"] is None, rest)
    if words[0] != "history":
        lines = run(*words, "--limit", "2", **here).stdout.splitlines()
        expect(f"{name} prints lines with columns", len(lines) == 2 and all("\t" in line for line in lines), lines)
answer = run("history", ids[0], "--columns", "event,step", **here)
expect("history --columns", [line.split("\t") for line in answer.stdout.splitlines()] == [["started", ""], ["started", "steps[0]"]], answer.stdout + answer.stderr)
expect("history --follow takes no --columns", run("history", ids[0], "--follow", "--columns", "event", **here).returncode == 2)
answer = run("list", "--columns", "status,id", "--limit", "1", **here)
expect("--columns", answer.stdout.strip().split("\t") == ["waiting", ids[2]], answer.stdout)
expect("no column", run("list", "--columns", "", **here).returncode == 2)
answer = run("list", "--columns", "stat", **here)
expect("an unknown column", answer.returncode == 2 and "STATUS" in answer.stderr, answer.stderr)
for verb in (["definitions"], ["dead"], ["dead", "list"]):
    answer = run(*verb, "--json", "--limit", "5", **here)
    expect(f"{verb} has next_cursor", answer.returncode == 0 and json.loads(answer.stdout)["next_cursor"] is None, answer.stderr)

# Unique prefixes of ids, against a server and on a store.
for place in (here, None):
    if place is None:
        expect("the server ends with 0", server.end() == 0, server.said)
        place = {"CAIRN_STORE": server.store}
    expect("an instance by its prefix", json.loads(run("show", "order-1", "--json", **place).stdout)["id"] == ids[1])
    expect("why by a prefix", run("why", "order-1", **place).returncode == 0)
    expect("a task by its prefix", json.loads(run("task", "show", task[:-3], "--json", **place).stdout)["id"] == task)
    expect("a run by its prefix", json.loads(run("runs", "show", runs[2][:30], "--json", **place).stdout)["id"] == runs[2])
    answer = run("show", "order-", **place)
    expect("a prefix of several", answer.returncode == 3 and all(id in answer.stderr for id in ids), answer.stderr)
    expect("a prefix of none", run("show", "nothing-like-it", **place).returncode == 3)
    expect("too short a prefix", run("show", "ord", **place).returncode == 3)
answer = run("suspend", "order-2", "--reason", "test", CAIRN_STORE=server.store)
expect("no action by the beginning of a chosen id: it may be the whole id of an instance that is gone", answer.returncode == 3 and ids[2] in answer.stderr, answer.stderr)
expect("the instance is as before", json.loads(run("show", ids[2], "--json", CAIRN_STORE=server.store).stdout)["status"] == "waiting")
expect("an action by the beginning of a generated id", run("task", "assign", task[:-3], "--to", "ann", CAIRN_STORE=server.store).returncode == 0)
expect("an action by the whole id", run("suspend", ids[2], "--reason", "test", CAIRN_STORE=server.store).returncode == 0)
server.start()
here["CAIRN_SERVER"] = f"http://127.0.0.1:{server.port}"
for id in ("part", "part-2"):
    server.call("POST", "/v1/instances", {"definition": "t.wait", "id": id})
answer = run("signal", "part", "--discard", "none", **here)
expect("a whole id that begins another one is not ambiguous", answer.returncode == 3 and "several" not in answer.stderr, answer.stderr)

# Filters of the audit trail.
run("suspend", ids[0], **here)
rows = json.loads(run("audit", "list", "--json", **here).stdout)["items"]
for flag, value, fits in (("--who", "admin-person", lambda row: row["who"] == "admin-person"), ("--what", "suspendInstance", lambda row: row["what"] == "suspendInstance"),
                          ("--resource", ids[0], lambda row: ids[0] in row["resource"]), ("--from", rows[2]["at"], lambda row: at(row) >= at(rows[2])),
                          ("--to", rows[2]["at"], lambda row: at(row) < at(rows[2]))):
    answer = run("audit", "list", flag, value, "--json", **here)
    wanted = [row for row in rows if fits(row)]
    expect(f"audit list {flag}", json.loads(answer.stdout or "{}").get("items") == wanted and (wanted or flag == "--to"), (value, answer.stdout[:300], answer.stderr, [row["what"] for row in rows]))
expect("a wrong time", run("audit", "list", "--from", "noon", **here).returncode == 8)
expect("a day, as in the help", run("audit", "list", "--who", "ada", "--from", "2026-01-01", **here).returncode == 0)
answer = run("audit", "verify", "--file", folder.name)
expect("a file that cannot be read is not intact", answer.returncode != 0 and "intact" not in answer.stdout, answer.stdout + answer.stderr)

# `..` in an address would reach another resource: here the kept signal 1 of the server.
run("signal", "unheard", **here)
kept = json.loads(run("signals", "--json", **here).stdout)["items"][0]["number"]
for id in ("..", ".", ""):
    answer = run("signal", id, "--discard", str(kept), **here)
    expect(f"{id!r} is no instance", answer.returncode == 3 and "no id" in answer.stderr, answer.stdout + answer.stderr)
expect("the signal is still kept", [item["number"] for item in json.loads(run("signals", "--json", **here).stdout)["items"]] == [kept])

# Kept signals are a list like the others.
for n in range(3):
    run("signal", "early", "--key", str(n), **here)
    run("signal", ids[0], "early", **here)
for words in (["signals"], ["signals", "--instance", ids[0]]):
    answer = run(*words, "--limit", "2", **here)
    expect(f"{words} --limit", len(answer.stdout.splitlines()) == 2 and "more" in answer.stderr, answer.stdout + answer.stderr)
    everything, found, cursor = json.loads(run(*words, "--json", **here).stdout)["items"], [], []
    while cursor is not None:
        page = json.loads(run(*words, "--json", "--limit", "1", *cursor, **here).stdout)
        found += page["items"]
        cursor = page["next_cursor"] and ["--cursor", page["next_cursor"]]
    expect(f"{words} --cursor", len(everything) >= 3 and found == everything, found)
expect("a cursor of no list", run("keys", "list", "--cursor", "x", **here).returncode == 2)

# Reports of a server are those of its store.
for command in ("verify", "doctor"):
    answer = run(command, "--json", **here)
    expect(f"{command} against a server", answer.returncode == 0 and json.loads(answer.stdout)["findings"] is not None, answer.stdout + answer.stderr)
    expect(f"{command} needs an operator", run(command, "--server", here["CAIRN_SERVER"], CAIRN_TOKEN=server.keys["viewer"]).returncode == 4)
expect("verify says so", "all invariants hold" in run("verify", **here).stdout)

# A reader that goes away is no error.
definition = os.path.join(sys.argv[2], "examples/hello.yaml")
for words in (["list"], ["audit", "export"], ["history", ids[0]], ["--help"], ["verify"], ["compile", definition], ["render", definition],
              ["decompile", definition, "--to", "yaml"], ["keys", "list"], ["definitions", "show", "t.wait"]):
    made = subprocess.Popen([cairn, *words], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env={**CLEAN, **here})
    made.stdout.close()
    said = made.stderr.read()
    expect(f"{' '.join(words)} into a closed pipe", made.wait(60) == 0 and said == "", said)
expect("the server ends with 0", server.end() == 0, server.said)
finish()
