#!/usr/bin/env python3
"""answers_test.py CAIRN SOURCE_DIR: answers that depend on two features at once: preconditions, filters, times at the end of the calendar, cookies."""
import http.client, socket, sys, urllib.parse
from served import Served, expect, finish

server = Served(sys.argv[1])
DEFINITION = "cairn: 1\nname: t.wait\nversion: 1.0.0\nsteps: [ { task: { name: Review } } ]\n"
server.call("POST", "/v1/definitions", text=DEFINITION, **{"content-type": "application/yaml"})

# A key that lives longer than the calendar: every list of keys can still be read, and the server starts again.
made = server.call("POST", "/v1/keys", {"subject": "far", "roles": ["viewer"], "expires_in": "3650000d"})
expect("a key that lives very long", made.status == 201 and made.json["expires_at"].startswith("9999-12-31"), made.text)
listed = server.call("GET", "/v1/keys")
expect("the keys are listed", listed.status == 200 and made.json["id"] in listed.text, listed.text)
expect("the key is valid", server.call("GET", "/v1/info", key=made.json["key"]).status == 200)
expect("another session begins", server.call("POST", "/v1/session").status == 201)
expect("the server ends with 0", server.end() == 0, server.said)
server.start()
expect("it starts again", server.port is not None, getattr(server, "said", ""))

# If-Match on a schedule counts for every change, also for a pause alone.
server.call("POST", "/v1/schedules", {"name": "s", "every": "1h", "start": {"definition": "t.wait"}})
for body in ({"paused": True}, {"paused": False}, {}, {"every": "2h"}, {"every": "2h", "paused": True}):
    answer = server.call("PATCH", "/v1/schedules/s", body, **{"if-match": '"99"'})
    expect(f"another version refuses {body}", answer.status == 412, answer.text)
now = server.call("GET", "/v1/schedules/s").json
expect("nothing has changed", now["paused"] is False and now["every"] == "PT1H", now)
answer = server.call("PATCH", "/v1/schedules/s", {"every": "2h", "paused": True}, **{"if-match": f'"{now["state_version"]}"'})
expect("the current version is taken", answer.status == 200 and answer.json["paused"] is True and answer.json["every"] == "PT2H", answer.text)

# A condition that cannot be read refuses the change: to ignore it would make the change unconditional. The same holds for an empty key.
def twice(path, *lines):
    body = b'{"comment": "x"}'
    with socket.create_connection(("127.0.0.1", server.port), timeout=60) as connection:
        head = [f"POST {path} HTTP/1.1", "Host: localhost", f"Authorization: Bearer {server.keys['admin']}", "Content-Type: application/json", "Connection: close",
                f"Content-Length: {len(body)}", *lines]
        connection.sendall("\r\n".join([*head, "", ""]).encode() + body)
        text = b""
        while part := connection.recv(65536):
            text += part
    return int(text.split()[1])


review = server.call("POST", "/v1/instances", {"definition": "t.wait"}).json["id"]
review = server.call("GET", f"/v1/tasks?instance={review}").json["items"][0]
comment, version = f"/v1/tasks/{review['id']}/comment", review["state_version"]
for lines in (["If-Match:"], ["If-Match: "], [f'If-Match: "{version}"', 'If-Match: "99"'], [f'If-Match: "{version}"', f'If-Match: "{version}"'], ["Idempotency-Key:"]):
    expect(f"{lines} is refused", twice(comment, *lines) == 400, twice(comment, *lines))
expect("an If-Match without a value is refused elsewhere too", twice("/v1/signals", "If-Match:") == 400)
expect("none of them changed anything", "commented" not in server.call("GET", f"/v1/tasks/{review['id']}/events").text)
expect("one current version is taken", twice(comment, f'If-Match: "{version}"', "Idempotency-Key: k") == 200)

# A key of 200 characters is a key everywhere, also where it is in the body.
long_key = "k" * 200
for body, header in (({"type": "demo.k", "idempotency_key": long_key}, {}), ({"type": "demo.h"}, {"idempotency-key": "h" * 200})):
    runs = [server.call("POST", "/v1/runs", body, **header) for _ in range(2)]
    expect(f"a long key of {body['type']}", runs[0].status == 201 and runs[1].json["id"] == runs[0].json["id"] and len(runs[0].json["idempotency_key"]) == 200, runs[0].text)
batch = server.call("POST", "/v1/runs/batch", {"runs": [{"type": "demo.k", "idempotency_key": long_key}]})
expect("and in a batch", batch.status == 200 and batch.json["items"][0].get("created") is False, batch.text)

# The audit trail: by person and by account; a day is a time.
rows = server.call("GET", "/v1/audit?limit=1000").json["items"]
account = rows[0]["details"]["account"]
found = server.call("GET", f"/v1/audit?limit=1000&who={account}").json["items"]
expect("an account", account.startswith("key:") and found == [row for row in rows if row["details"]["account"] == account], (account, found))
pages, cursor = [], ""
while True:
    page = server.call("GET", f"/v1/audit?limit=1&what=createSchedule{cursor}").json
    pages += page["items"]
    if page["next_cursor"] is None:
        break
    cursor = f"&cursor={page['next_cursor']}"
expect("pages of one row have each match once", pages == [row for row in rows if row["what"] == "createSchedule"], pages)
for path in ("/v1/audit", "/v1/instances"):
    expect(f"a day at {path}", server.call("GET", f"{path}?from=2020-01-01&to=2099-01-01").status == 200)
    refused = server.call("GET", f"{path}?from=noon")
    expect(f"no time at {path}", refused.status == 400 and "2026-01-31" in refused.text, refused.text)

# A parameter that is neither true nor false is not ignored.
for path, name in (("tasks", "closed"), ("tasks", "overdue"), ("tasks", "mine"), ("outbox", "unpublished"), ("runs", "deleted")):
    expect(f"{name}=true", server.call("GET", f"/v1/{path}?{name}=true").status == 200)
    refused = server.call("GET", f"/v1/{path}?{name}=yes")
    expect(f"{name}=yes", refused.status == 400 and "true or false" in refused.text, refused.text)

# Signals that an instance keeps: each filter counts.
one = server.call("POST", "/v1/instances", {"definition": "t.wait", "id": "keeper"}).json["id"]
for name, key in (("a", "1"), ("a", "2"), ("b", "1"), ("b", None)):
    server.call("POST", f"/v1/instances/{one}/signals", {"name": name, "key": key})
for filters, wanted in (("&name=a", [("a", "1"), ("a", "2")]), ("&key=1", [("a", "1"), ("b", "1")]), ("&name=b&key=1", [("b", "1")])):
    items = server.call("GET", f"/v1/signals?instance={one}{filters}").json["items"]
    expect(f"kept signals {filters}", [(item["name"], item["key"]) for item in items] == wanted, items)

pages, cursor = [], ""
while cursor is not None:
    page = server.call("GET", f"/v1/signals?instance={one}&limit=3{cursor and '&cursor=' + cursor}").json
    expect("a page is as long as it may be", len(page["items"]) <= 3, page)
    pages += page["items"]
    cursor = page["next_cursor"]
expect("pages of kept signals have each once", [(item["name"], item["key"]) for item in pages] == [("a", "1"), ("a", "2"), ("b", "1"), ("b", None)], pages)
first = server.call("GET", f"/v1/signals?instance={one}&limit=2").json
server.call("DELETE", f"/v1/instances/{one}/signals/{urllib.parse.quote(first['items'][1]['id'], safe='')}")
rest = server.call("GET", f"/v1/signals?instance={one}&cursor={first['next_cursor']}").json["items"]
expect("a page goes on after a signal that is gone", [(item["name"], item["key"]) for item in rest][-2:] == [("b", "1"), ("b", None)], rest)
expect("a cursor of another list", server.call("GET", f"/v1/signals?instance={one}&cursor=7").status == 422)

# A browser has a cookie from before the proxy had a certificate. Two cookies count as none, so signing in removes the old one.
before = server.call("POST", "/v1/session", origin=f"http://127.0.0.1:{server.port}")
plain = before.headers["set-cookie"].split(";")[0]
expect("without TLS", plain.startswith("cairn_session="), plain)
connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=60)
connection.request("POST", "/v1/session", headers={"authorization": "Bearer " + server.keys["admin"], "cookie": plain, "host": "cairn.example", "origin": "https://cairn.example"})
answer = connection.getresponse()
answer.read()
cookies = answer.headers.get_all("set-cookie")
expect("signing in under TLS removes it", answer.status == 201 and len(cookies) == 2 and cookies[0].startswith("__Host-cairn_session=") and
       cookies[1].startswith("cairn_session=;") and "Max-Age=0" in cookies[1] and "Path=/" in cookies[1], cookies)
connection.close()

# Only the browser of the caller may keep a diagram.
kept = server.call("GET", "/v1/definitions/t.wait/1.0.0/diagram").headers["cache-control"]
expect("a diagram is not for shared caches", "private" in kept, kept)
expect("the server ends with 0", server.end() == 0, server.said)
finish()
