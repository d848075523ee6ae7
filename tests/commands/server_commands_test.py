#!/usr/bin/env python3
"""server_commands_test.py CAIRN SOURCE_DIR: the commands for instances and tasks against a running server, with their exit codes."""
import json, os, re, signal, subprocess, sys, tempfile

cairn, source = os.path.abspath(sys.argv[1]), os.path.abspath(sys.argv[2])
folder = tempfile.TemporaryDirectory()
os.chdir(folder.name)
passed = failed = 0


def expect(what, ok, seen=""):
    global passed, failed
    passed, failed = passed + bool(ok), failed + (not ok)
    if not ok:
        print(f"not so: {what}\n  {seen}")


with open("order.yaml", "w") as file:
    file.write("""cairn: 1
name: order
version: 1.0.0
reference: { key: = input.no }
steps:
  - task: { name: Review, title: = "Review " + ref.key, roles: [clerk], result: review }
  - id: check
    if: state.review.ok
    then: [ { signal: { name: paid, key: = ref.key, result: payment } } ]
    else: [ { id: broken, set: { x: = state.missing.thing } } ]
output: { payment: = state.?payment.orValue(null) }
""")
server = subprocess.Popen([cairn, "dev", "order.yaml", "--listen", "0"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
line = server.stdout.readline()
found = re.search(r"http://[^/]+", line) or sys.exit(f"cairn dev said {line!r}")
environment = {**os.environ, "CAIRN_SERVER": found.group(0)}
environment.pop("CAIRN_STORE", None)


def run(code, *arguments, within=60):
    done = subprocess.run([cairn, *arguments], env=environment, capture_output=True, text=True, timeout=within)
    expect(f"cairn {' '.join(arguments)} exits with {code}", done.returncode == code, f"{done.returncode}: {done.stdout}{done.stderr}")
    return done.stdout if code in (0, 5, 124) else done.stderr


def document(*arguments, code=0):
    return json.loads(run(code, *arguments, "--json"))


first = document("start", "order", "--input", '{"no": "A1"}', "--key", "k")["id"]
expect("the same key starts once", document("start", "order", "--input", '{"no": "A1"}', "--key", "k")["id"] == first)
second = document("start", "order.yaml", "--input", '{"no": "B2"}')["id"]
expect("a pipe gets tabs", run(0, "list").splitlines()[0].split("\t")[:2] == [second, "waiting"], run(0, "list"))
expect("by reference", [i["id"] for i in document("list", "--reference", "A1")["items"]] == [first])
found = [i["id"] for i in document("list", "--text", "b2")["items"]]
expect("by text", second in found and all(id == second or "b2" in id for id in found), found)  # ids are looked at too
shown = run(0, "show", first)
expect("show begins with the tree", "◷ ☺ Review  waiting for Review" in shown, shown)
expect("why names role and command", re.search(r"role clerk.*\n  cairn task complete \S+", run(0, "why", first)), run(0, "why", first))
tasks = {t["reference"]["key"]: t for t in document("tasks", "--role", "clerk")["items"]}
expect("two tasks are open", set(tasks) == {"A1", "B2"}, tasks)
expect("tasks can be filtered", [t["id"] for t in document("tasks", "--filter", "ref:B2 role:clerk")["items"]] == [tasks["B2"]["id"]])
expect("the inbox", len(document("tasks", "--mine", "--as", "ann")["items"]) == 2)
run(8, "tasks", "--filter", "colour:red")
expect("tasks can be searched", [t["id"] for t in document("tasks", "--text", "review b2")["items"]] == [tasks["B2"]["id"]])
task = tasks["A1"]["id"]
run(0, "task", "assign", task, "--as", "ann")
expect("the task is ann's", document("task", "show", task)["assignee"] == "ann")
run(0, "task", "comment", task, "--text", "looks good", "--as", "ann")
run(6, "task", "complete", task, "--payload", '{"ok": true}', "--if-state-version", "1", "--as", "ann")
run(0, "task", "complete", task, "--payload", '{"ok": true}', "--as", "ann")
run(6, "task", "complete", task, "--payload", '{"ok": true}', "--as", "ann")
expect("the events of the task", [e["event"] for e in document("task", "events", task)["items"]] == ["created", "assigned", "commented", "completed"])
expect("a signal finds its instance", "1 instance" in run(0, "signal", "paid", "--key", "A1", "--payload", "5"))
run(0, "watch", first)
expect("the history has an end", json.loads(run(0, "history", first, "--follow", "--json").splitlines()[-1])["event"] == "completed")
expect("the output", document("show", first)["output"] == {"payment": 5})
run(6, "cancel", first)
run(0, "task", "complete", tasks["B2"]["id"], "--payload", '{"ok": false}', "--as", "bob")
stopped = run(0, "show", second)
expect("what is suspended says where to ask", f"cairn why {second}" in stopped and stopped.count("(steps[1].else[0])") == 1, stopped)
expect("an incident suspends it", "incident at step broken" in run(0, "why", second), run(0, "why", second))
run(0, "state", "edit", second, "--patch", '{"missing": {"thing": 1}}')
expect("the state was edited", json.loads(run(0, "state", second))["missing"] == {"thing": 1})
run(0, "retry", second)
run(0, "watch", second)
third = document("start", "order", "--input", '{"no": "C3"}')["id"]
run(0, "suspend", third, "--reason", "audit")
run(0, "resume", third)
run(0, "cancel", third, "--reason", "no longer wanted")
run(5, "watch", third)
fourth = document("start", "order", "--input", '{"no": "E5"}')["id"]
expect("a preview does nothing", fourth in run(0, "bulk", "cancel", "--filter", "status:waiting") and document("show", fourth)["status"] == "waiting")
run(0, "bulk", "cancel", "--filter", "status:waiting", "--yes")
expect("bulk cancels", document("show", fourth)["status"] == "cancelled")
run(2, "bulk", "cancel", "--yes")
# What follows an instance shows an event when it happens.
fifth = document("start", "order", "--input", '{"no": "F6"}')["id"]
following = subprocess.Popen([cairn, "history", fifth, "--follow", "--json"], env=environment, stdout=subprocess.PIPE, text=True)
expect("the history so far comes at once", json.loads(following.stdout.readline())["event"] == "started")
seen = []
run(0, "suspend", fifth)
while not seen or seen[-1] != "suspended":
    seen.append(json.loads(following.stdout.readline())["event"])
run(0, "cancel", fifth)
rest = [json.loads(line)["event"] for line in following.stdout]
expect("and its end, with which the command ends", rest and rest[-1] == "cancelled" and following.wait(30) == 0, (seen, rest))
run(0, "dead")
run(3, "dead", "replay", "7")
run(0, "runs")
run(0, "schedules")
run(124, "start", "order", "--input", '{"no": "D4"}', "--wait", "50ms")
run(3, "show", "nobody")
expect("help for what there is not names the nearest", "cairn help start" in run(2, "help", "strat"))
expect("help on a command is its own", "Usage: cairn start" in run(0, "help", "start"))
expect("help on a topic is its page", run(0, "help", "back-up").startswith("# Back up and restore\n") and run(0, "help", "how-to/back-up") == run(0, "help", "back-up"))
expect("a page names others by their topic", "(concepts/failures)" in run(0, "help", "run-two-nodes"))
expect("the topics are listed", "(how-to/use-tls)" in run(0, "help", "topics"))
expect("words find pages", "how-to/repair-many-instances" in run(0, "help", "suspended", "retry", "instances"))
expect("words that no page has find none", "topics" in run(2, "help", "qwxyz", "zyxwq"))
expect("what can be started is named", "cairn definitions" in run(3, "start", "ordre"))
expect("a key needs to say whose and for what", "--subject" in run(2, "keys", "create"))
expect("a definition that is not there is named", "order 9.9.9" in run(3, "definitions", "retire", "order", "9.9.9"))
run(2, "list", "--status", "asleep")
run(2, "list", "--server", "http://x", "--store", "sqlite:y")
run(7, "list", "--server", "http://127.0.0.1:1")
expect("definitions are listed", run(0, "definitions").startswith("order\t1.0.0"))
expect("the source compiles to itself", "name: order" in run(0, "definitions", "source", "order", "1.0.0"))
with open("bad.yaml", "w") as file:
    file.write("cairn: 1\nname: bad\nversion: 1.0.0\nsteps: [ { set: { x: = 1 + } } ]\n")
expect("a bad file is named with line and column", re.search(r"bad.yaml:4:\d+: error", run(8, "definitions", "deploy", "bad.yaml")))
run(0, "definitions", "retire", "order", "1.0.0")
run(3, "start", "order")
run(0, "render", third, "-o", "third.svg")
expect("an instance is drawn", open("third.svg").read().startswith("<svg "))
server.send_signal(signal.SIGTERM)
server.communicate(timeout=30)
expect("SIGTERM ends it cleanly", server.returncode == 0, server.returncode)
print(f"{passed} passed, {failed} failed")
sys.exit(1 if failed else 0)
