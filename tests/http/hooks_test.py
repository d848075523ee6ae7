#!/usr/bin/env python3
"""hooks_test.py CAIRN SOURCE_DIR: incoming webhooks. A signed request is applied once, even after kill -9. Every other request is
refused and changes nothing. A cairn server accepts what the outbox of another one sends."""
import concurrent.futures, hashlib, hmac, http.client, json, os, secrets, signal, sys, tempfile, time
from served import Served, expect, finish

WAITING = """
cairn: 1
name: t.paid
version: 1.0.0
reference: { key: = input.no }
steps: [ { signal: { name: payment.received, key: = input.no, result: payment } } ]
output: = state.payment
"""
HEARING = WAITING.replace("t.paid", "t.heard").replace("payment.received", "order.sent")
SENDING = """
cairn: 1
name: t.send
version: 1.0.0
steps: [ { emit: { type: order.sent, subject: = input.no, data: { sum: = input.sum } } } ]
"""
EVENTS, SIGNALS, PLAIN = secrets.token_hex(16), secrets.token_urlsafe(24), secrets.token_hex(16)
NEW, OLD, BANK = secrets.token_hex(32), secrets.token_hex(16), secrets.token_urlsafe(40)
folder = tempfile.TemporaryDirectory()
settings, bank = os.path.join(folder.name, "cairn.toml"), os.path.join(folder.name, "bank.secret")
with open(bank, "w") as file:
    file.write(BANK + "\n")
with open(settings, "w") as file:
    file.write(f'[[hooks]]\nname = "orders"\nid = "{EVENTS}"\nsecret = "{NEW}"\nold_secret = "{OLD}"\ntypes = ["order."]\n'
               f'[[hooks]]\nname = "bank"\nid = "{SIGNALS}"\nsecret_file = "{bank}"\nsignal = "payment.received"\nkey = "= body.order"\n'
               'payload = "= body.sum"\nevent_id = "= headers[\\"webhook-id\\"]"\nsigned_headers = ["webhook-id"]\n'
               f'[[hooks]]\nname = "plain"\nid = "{PLAIN}"\nsecret = "{NEW}"\nsignal = "payment.received"\nkey = "= body.order"\n')
os.chmod(settings, 0o600)  # it holds secrets
server = Served(sys.argv[1], "--config", settings, "--limits-event-batch-max", "20")
expect("it starts", server.port is not None, getattr(server, "said", ""))
for definition in (WAITING, HEARING):
    server.call("POST", "/v1/definitions", text=definition, **{"content-type": "application/yaml"})


def mac(secret, stamp, body, digest=hashlib.sha256, id=SIGNALS, headers=(("content-type", "application/json"),)):
    """Over time, hook, signed headers and body."""
    lines = [stamp, id, *(f"{name}:{value}" for name, value in sorted(headers)), "", ""]
    return hmac.new(secret.encode(), "\n".join(lines).encode() + body, digest).hexdigest()


def send(id, body, headers, to=None):
    """The bytes and headers as they are given, twice when they are given twice."""
    connection = http.client.HTTPConnection("127.0.0.1", (to or server).port, timeout=60)
    try:
        connection.putrequest("POST", "/v1/hooks/" + id)
        for name, value in headers:
            connection.putheader(name, value)
        connection.putheader("content-length", str(len(body)))
        connection.endheaders(body)
        answer = connection.getresponse()
        return answer.status, answer.read().decode(), {name.lower(): value for name, value in answer.getheaders()}
    finally:
        connection.close()


def signed(secret, body, at=None, *more, id=SIGNALS, kind="application/json"):
    stamp = str(int(time.time()) if at is None else at)
    headers = [("content-type", kind), *more]
    return [*headers, ("cairn-timestamp", stamp), ("cairn-signature", "v2=" + mac(secret, stamp, body, id=id, headers=headers))]


def waiting(no, definition="t.paid"):
    return server.call("POST", "/v1/instances", {"definition": definition, "input": {"no": no}}).json["id"]


def status(instance):
    return server.call("GET", f"/v1/instances/{instance}").json["status"]


# What is signed is taken; the sender needs no key.
first = waiting("A1")
body = b'{"order": "A1",  "sum": 10}'
good = signed(BANK, body, None, ("webhook-id", "w-1"))
code, text, _ = send(SIGNALS, body, good)
expect("a signed request is taken", code == 202 and json.loads(text)["items"][0]["instances"] == [first], (code, text))
ended = server.call("GET", f"/v1/instances/{first}?wait=30s").json
expect("and moves its instance", ended["status"] == "completed" and ended["output"] == 10, ended)
trail = server.call("GET", "/v1/audit?limit=1000").json["items"]
expect("the audit trail says which hook it was", any(row["what"] == "receiveHook" and row["who"] == "hook:bank" for row in trail), trail[-3:])

# The limit of a batch is that of other senders.
many = json.dumps([{"specversion": "1.0", "id": f"m-{number}", "source": "/many", "type": "order.many"} for number in range(21)]).encode()
code, text, _ = send(EVENTS, many, signed(NEW, many, id=EVENTS, kind="application/cloudevents-batch+json"))
expect("more events than a request may have", code == 413 and json.loads(text).get("limit") == "limits.event_batch_max", (code, text))

# S-27, each case: 401, and nothing moves.
victim = waiting("B1")
body = b'{"order": "B1",  "sum": 10}'
now = int(time.time())
stamp = str(now)
form = ("content-type", "application/json")
right = "v2=" + mac(BANK, stamp, body, headers=[form, ("webhook-id", "w-2")])
hostile = {
    "no signature and no timestamp": [form],
    "no signature": [form, ("cairn-timestamp", stamp)],
    "an empty signature": [form, ("cairn-timestamp", stamp), ("cairn-signature", "")],
    "no timestamp": [form, ("cairn-signature", right)],
    "a timestamp that is no number": [form, ("cairn-timestamp", stamp + "x"), ("cairn-signature", "v2=" + mac(BANK, stamp + "x", body))],
    "a timestamp with a sign": [form, ("cairn-timestamp", "+" + stamp), ("cairn-signature", "v2=" + mac(BANK, "+" + stamp, body))],
    "another timestamp than the signed one": [form, ("cairn-timestamp", str(now - 1)), ("cairn-signature", right)],
    "two signatures": [form, ("cairn-timestamp", stamp), ("cairn-signature", right), ("cairn-signature", right)],
    "a wrong signature before the right one": [form, ("cairn-timestamp", stamp), ("cairn-signature", "v2=" + "0" * 64), ("Cairn-Signature", right)],
    "two timestamps": [form, ("cairn-timestamp", stamp), ("cairn-timestamp", stamp), ("cairn-signature", right)],
    "signatures in a list": [form, ("cairn-timestamp", stamp), ("cairn-signature", right + "," + right)],
    "the signature of the same document in other bytes":
        [form, ("cairn-timestamp", stamp), ("cairn-signature", "v2=" + mac(BANK, stamp, json.dumps(json.loads(body)).encode()))],
    "the body signed without its time": [form, ("cairn-timestamp", stamp), ("cairn-signature", "v2=" + hmac.new(BANK.encode(), body, hashlib.sha256).hexdigest())],
    "301 s old": signed(BANK, body, now - 301 - 2),
    "301 s ahead": signed(BANK, body, now + 301 + 30),
    "sha1 alone": [form, ("cairn-timestamp", stamp), ("cairn-signature", "sha1=" + mac(BANK, stamp, body, hashlib.sha1))],
    "sha1 as v2": [form, ("cairn-timestamp", stamp), ("cairn-signature", "v2=" + mac(BANK, stamp, body, hashlib.sha1))],
    "v0 of another scheme": [form, ("cairn-timestamp", stamp), ("cairn-signature", "v0=" + right[3:])],
    "the bare digits": [form, ("cairn-timestamp", stamp), ("cairn-signature", right[3:])],
    "the old scheme, which signed the body only": [form, ("cairn-timestamp", stamp), ("cairn-signature", "v1=" +
        hmac.new(BANK.encode(), stamp.encode() + b"." + body, hashlib.sha256).hexdigest())],
    "another event id than the signed one": signed(BANK, body, None, ("webhook-id", "w-1")),
    "signed for another hook": signed(BANK, body, None, ("webhook-id", "w-2"), id=PLAIN),
    "another content type than the signed one": [("content-type", "application/cloudevents+json"), ("cairn-timestamp", stamp), ("cairn-signature", right)],
    "upper case": [form, ("cairn-timestamp", stamp), ("cairn-signature", right.upper())],
    "signed with nothing": signed("", body),
    "signed with the hook's id": signed(SIGNALS, body),
    "another hook's secret": signed(NEW, body),
    "in another header": [form, ("cairn-timestamp", stamp), ("x-hub-signature-256", "sha256=" + right[3:])],
    "an API key instead": [form, ("authorization", "Bearer " + server.keys["admin"])],
    "one byte more in the body": None,
}
words = set()
for what, headers in hostile.items():
    sent = body + b" " if headers is None else body
    given = [one for one in headers or signed(BANK, body, None, ("webhook-id", "w-2")) if one[0] != "webhook-id"]
    code, text, answered = send(SIGNALS, sent, given + [("webhook-id", "w-2")])
    expect(f"{what}: 401", code == 401 and answered.get("www-authenticate") == "Cairn-Signature", (code, text))
    words.add(text)
expect("every refusal has the same words", len(words) == 1, words)
expect("and nothing moved", status(victim) == "waiting" and not server.call("GET", f"/v1/instances/{victim}/history").text.count("signal_received"))

# S-29: the address is part of it.
for id in ("", "orders", "bank", SIGNALS[:-1], SIGNALS + "0", SIGNALS.swapcase(), EVENTS[:16], SIGNALS + "/", SIGNALS + "%20", secrets.token_urlsafe(24)):
    code, text, _ = send(id, body, signed(BANK, body, None, ("webhook-id", "w-3")))
    expect(f"/v1/hooks/{id[:8]}…: 404", code == 404, (code, text))
code, text, _ = send(EVENTS, body, signed(BANK, body))
expect("another hook's address takes another secret", code == 401, (code, text))
for method in ("GET", "HEAD", "PUT", "DELETE"):
    expect(f"{method} changes nothing", server.call(method, "/v1/hooks/" + SIGNALS, role=None).status == 405)

# Once: the same bytes again are refused, at once and after a kill -9; the sender's own second try is a repeat.
good = signed(BANK, body, None, ("webhook-id", "w-4"))
code, text, _ = send(SIGNALS, body, good)
expect("the victim gets its signal", code == 202 and json.loads(text)["items"][0]["instances"] == [victim], (code, text))
code, text, _ = send(SIGNALS, body, good)
expect("a replay is refused", code == 401, (code, text))
server.end(signal.SIGKILL)
server.start("--config", settings)
code, text, _ = send(SIGNALS, body, good)
expect("after a crash too", code == 401, (code, text))
# Nor does it count twice when many bring it at once.
at_once = waiting("B2")
many_body = b'{"order": "B2",  "sum": 10}'
many = signed(NEW, many_body, id=PLAIN)
with concurrent.futures.ThreadPoolExecutor(8) as pool:
    answers = list(pool.map(lambda _: send(PLAIN, many_body, many), range(8)))
taken = [json.loads(text)["items"][0] for code, text, _ in answers if code == 202]
expect("of eight at once one is taken, without an id too", len(taken) == 1 and all(code in (202, 401) for code, _, _ in answers), answers)
expect("and its instance moves", server.call("GET", f"/v1/instances/{at_once}?wait=30s").json["status"] == "completed")
expect("nothing is kept for another one", status(waiting("B2")) == "waiting")
again = signed(BANK, body, int(time.time()) + 1, ("webhook-id", "w-4"))
code, text, _ = send(SIGNALS, body, again)
expect("signed again with the same id it is a repeat", code == 202 and json.loads(text)["items"][0]["repeated"], (code, text))
code, text, _ = send(SIGNALS, b"{", signed(BANK, b"{", None, ("webhook-id", "w-5")))
expect("what is no JSON is refused by name", code in (400, 422), (code, text))
code, text, _ = send(SIGNALS, b"{}", signed(BANK, b"{}", None, ("webhook-id", "w-6")))
expect("and so is what has no key", code == 422, (code, text))
refused = signed(BANK, b"{}", int(time.time()) + 2, ("webhook-id", "w-7"))
codes = [send(SIGNALS, b"{}", refused)[0] for _ in range(2)]
expect("what was not taken has not spent its signature", codes == [422, 422], codes)

# An Idempotency-Key is not signed, so it decides nothing: a request with another signature is judged by that.
keyed_order, other_order = waiting("K1"), waiting("K2")
for number, (order, instance) in enumerate((("K1", keyed_order), ("K2", other_order))):
    body = json.dumps({"sum": 1, "order": order}).encode()
    code, text, answered = send(SIGNALS, body, [*signed(BANK, body, None, ("webhook-id", f"k-{number}")), ("idempotency-key", "K")])
    expect("a key does not refuse another signed request", code == 202 and json.loads(text)["items"][0]["instances"] == [instance], (code, text))
body = b'{"order": "K3", "sum": 1}'
for number in (2, 3):
    code, text, answered = send(SIGNALS, body, [*signed(BANK, body, int(time.time()) + number, ("webhook-id", f"k-{number}")), ("idempotency-key", "K3")])
    expect("nor answers another event with the same body", code == 202 and "idempotency-replayed" not in answered and not json.loads(text)["items"][0]["repeated"], (code, text))

# A CloudEvent in binary mode: its attributes are headers, and they are signed too.
attributes = [("ce-specversion", "1.0"), ("ce-id", "b1"), ("ce-source", "/t"), ("ce-type", "order.sent"), ("ce-subject", "BIN")]
binary = signed(NEW, b'{"n":1}', None, *attributes, id=EVENTS)
for name, value in (("ce-subject", "OTHER"), ("ce-type", "order.cancelled"), ("ce-id", "b2")):
    changed = [(one, value if one == name else before) for one, before in binary]
    code, text, _ = send(EVENTS, b'{"n":1}', changed)
    expect(f"another {name} than the signed one", code == 401, (code, text))
code, text, _ = send(EVENTS, b'{"n":1}', binary)
expect("as it was signed it is taken", code == 202, (code, text))

# A sender with a key cannot use up the id of a hook's event.
for role in ("starter", "admin"):
    server.call("POST", "/v1/signals", {"name": "payment.received", "key": "nobody", "id": f"w-{role}"}, role=role)
    server.call("POST", "/v1/events", {"specversion": "1.0", "id": f"w-{role}", "source": "hook:bank", "type": "x.y"}, role=role,
                content_type="application/cloudevents+json")
    victim = waiting("S-" + role)
    body = json.dumps({"order": "S-" + role, "sum": 1}).encode()
    code, text, _ = send(SIGNALS, body, signed(BANK, body, None, ("webhook-id", f"w-{role}")))
    expect(f"a {role} cannot make a signed event a repeat", code == 202 and json.loads(text)["items"][0]["instances"] == [victim], (code, text))

# While a secret is replaced both are good.
event = lambda n, kind="order.sent": json.dumps({"specversion": "1.0", "id": str(n), "source": "/t", "type": kind, "subject": f"E{n}", "data": n}).encode()
for n, secret in ((1, NEW), (2, OLD)):
    instance = waiting(f"E{n}", "t.heard")
    code, text, _ = send(EVENTS, event(n), signed(secret, event(n), id=EVENTS, kind="application/cloudevents+json"))
    expect("a CloudEvent is a signal", code == 202 and json.loads(text)["items"][0]["instances"] == [instance], (code, text))
code, text, _ = send(EVENTS, event(3, "bank.closed"), signed(NEW, event(3, "bank.closed"), id=EVENTS, kind="application/cloudevents+json"))
expect("a type that the hook does not take", code == 422, (code, text))

# cairn → cairn: the outbox of one signs, the hook of the other checks; each mode of the sink.
url = f"http://127.0.0.1:{server.port}"
for mode in ("structured", "binary", "batched"):
    sender_settings = os.path.join(folder.name, mode + ".toml")
    with open(sender_settings, "w") as file:
        file.write(f'egress = ["{url}"]\n[[events.sinks]]\nname = "other"\nhttp = {{ url = "{url}/v1/hooks/{EVENTS}", secret = "{NEW}", mode = "{mode}" }}\n')
    os.chmod(sender_settings, 0o600)
    sender = Served(sys.argv[1], "--config", sender_settings)
    sender.call("POST", "/v1/definitions", text=SENDING, **{"content-type": "application/yaml"})
    hearer = waiting(mode, "t.heard")
    sender.call("POST", "/v1/instances", {"definition": "t.send", "input": {"no": mode, "sum": 5}})
    heard = server.call("GET", f"/v1/instances/{hearer}?wait=30s").json
    expect(f"{mode}: what one cairn sends another one hears", heard["status"] == "completed" and heard["output"] == {"sum": 5}, heard)
    expect("the sender ends", sender.end() == 0, sender.said)

# Nothing is shown, and nothing starts without a good secret.
shown = server.run("config", "show", "--config", settings)
expect("secrets are not shown", NEW not in shown.stdout and OLD not in shown.stdout and BANK not in shown.stdout and "hooks" in shown.stdout, shown.stdout)
expect("SIGTERM ends with 0", server.end() == 0, server.said)
expect("refusals are in the log, secrets are not", "hook.refused" in server.said and not any(word in server.said for word in (NEW, OLD, BANK)), server.said)
hook = {"name": "x", "id": secrets.token_hex(16), "secret": NEW}
for what, change in {"no secret": {"secret": None}, "an empty secret": {"secret": ""}, "a short secret": {"secret": "x" * 31},
                     "a short old secret": {"old_secret": "x" * 31}, "an id that can be guessed": {"id": "crm"}, "no id": {"id": None},
                     "a secret that is not there": {"secret": None, "secret_file": "/nowhere/at/all"}, "a member nobody knows": {"sekret": NEW}}.items():
    bad = {name: value for name, value in {**hook, **change}.items() if value is not None}
    server.start(environment={"CAIRN_HOOKS": json.dumps([bad])})
    started = server.port is not None
    if started:
        server.end()
    expect(f"{what}: it does not start", not started and "hooks" in server.said and NEW not in server.said, server.said)
server.start("--hooks", json.dumps([hook]))
code, text, _ = send(hook["id"], event(9), signed(NEW, event(9), id=hook["id"], kind="application/cloudevents+json"))
expect("a hook from a flag works", code == 202, (code, text))
expect("and ends", server.end() == 0, server.said)
finish()
