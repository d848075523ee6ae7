#!/usr/bin/env python3
"""stop_calls_test.py CAIRN SOURCE_DIR [postgres]: SIGTERM at random moments while chains of HTTP calls run. The process ends, no call begins
afterwards, and after the restarts every call was made exactly once. On SQLite, or on the server that CAIRN_TEST_POSTGRES names. CAIRN_STOPS makes it
longer; CAIRN_SEED repeats a run."""
import collections, json, os, random, sys, tempfile, threading, time
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from receiver import Receiver
from served import Served, expect, finish

stops = int(os.environ.get("CAIRN_STOPS", "5"))
seed = int(os.environ.get("CAIRN_SEED", "1"))
dice = random.Random(seed)
print("seed", seed)
CHAINS, LENGTH = 4, 60
DEFINITION = f"""
cairn: 1
name: t.chain
version: 1.0.0
state: {{ count: 0 }}
steps:
  - repeat:
      times: {LENGTH}
      steps:
        - call:
            http: {{ method: POST, url: = config.url, body: {{ chain: = input.chain, number: = state.count }} }}
            retry: none
        - set: {{ count: = state.count + 1 }}
output: = state.count
"""
came = threading.Condition()
made = collections.Counter()


held, may_answer = collections.Counter(), threading.Event()


def answer(path, headers, body):
    call = json.loads(body)
    if "held" in call:
        with came:
            held[call["held"]] += 1
            came.notify_all()
        may_answer.wait(60)
        return 200, "{}"
    with came:
        made[(call["chain"], call["number"])] += 1
        came.notify_all()
    return 200, "{}"


url = Receiver(answer).url
folder = tempfile.TemporaryDirectory()
settings = os.path.join(folder.name, "cairn.toml")
with open(settings, "w") as file:
    file.write(f'egress = ["{url}"]\n[config]\nurl = "{url}/"\n[log]\nlevel = "error"\n')
environment = {"CAIRN_DRAIN_DELAY": "0s"}
store = None
if sys.argv[3:] == ["postgres"]:
    store = "%s&schema=stop_calls_%d" % (os.environ["CAIRN_TEST_POSTGRES"], os.getpid())
server = Served(sys.argv[1], "--config", settings, store=store, environment=environment)
expect("it starts", server.port is not None, getattr(server, "said", ""))
deployed = server.call("POST", "/v1/definitions", text=DEFINITION, **{"content-type": "application/yaml"})
expect("the definition is deployed", deployed.status in (200, 201), deployed.text)
ids = [server.call("POST", "/v1/instances", {"definition": "t.chain", "input": {"chain": chain}}).json["id"] for chain in range(CHAINS)]
total = CHAINS * LENGTH


def wait_for_calls(count):
    with came:
        came.wait_for(lambda: sum(made.values()) >= count, timeout=120)


for stop in range(stops):
    before = sum(made.values())
    wait_for_calls(min(total - CHAINS, before + dice.randrange(1, total // (stops + 1))))
    if sum(made.values()) >= total - CHAINS:
        break
    at_signal = sum(made.values())
    code = server.end()
    expect("SIGTERM ends with 0", code == 0, (code, server.said[-1500:]))
    # Each chain may have one running call and one that is about to begin, and the signal takes time to arrive on a busy machine.
    expect("no call begins after SIGTERM", sum(made.values()) - at_signal <= 4 * CHAINS + 4, (at_signal, sum(made.values())))
    server.start("--config", settings, environment=environment)
    expect("it starts again", server.port is not None, getattr(server, "said", ""))
for chain, instance in enumerate(ids):
    until = time.monotonic() + 120
    shown = server.call("GET", f"/v1/instances/{instance}?wait=30s").json
    while shown["status"] == "waiting" and time.monotonic() < until:
        shown = server.call("GET", f"/v1/instances/{instance}?wait=30s").json
    expect("the chain ends", shown["status"] == "completed", json.dumps(shown)[:600])
# A call that was sent and has no answer when the server ends is an attempt. Without a retry, it is not sent again.
made_again = server.call("POST", "/v1/definitions", text=DEFINITION.replace("name: t.chain", "name: t.held").replace(f"times: {LENGTH}", "times: 1").replace(
    "{ chain: = input.chain, number: = state.count }", "{ held: = input.chain }"), **{"content-type": "application/yaml"})
expect("the definition of one call is deployed", made_again.status in (200, 201), made_again.text)
expect("SIGTERM ends with 0", server.end() == 0, server.said[-1500:])
server.start("--config", settings, "--drain", "1s", environment=environment)
one = server.call("POST", "/v1/instances", {"definition": "t.held", "input": {"chain": 7}}).json["id"]
with came:
    expect("the call was sent", came.wait_for(lambda: held[7] == 1, timeout=60), held)
code = server.end()
expect("SIGTERM ends with 0 while a call has no answer", code == 0, (code, server.said[-1500:]))
server.start("--config", settings, environment=environment)
until = time.monotonic() + 60
while (shown := server.call("GET", f"/v1/instances/{one}").json)["status"] == "waiting" and held[7] == 1 and time.monotonic() < until:
    time.sleep(0.05)
expect("it counts as its only attempt", held[7] == 1 and shown["status"] == "suspended" and "interrupted" in json.dumps(shown["error"]), (held, shown))
may_answer.set()
twice = {call: count for call, count in made.items() if count > 1}
expect("every call was made once", not twice and len(made) == total, (len(made), dict(list(twice.items())[:5])))
expect("SIGTERM ends with 0", server.end() == 0, server.said[-1500:])
checked = server.run("verify", "--store", server.store)
expect("verify finds nothing", checked.returncode == 0, checked.stdout + checked.stderr)
finish()
