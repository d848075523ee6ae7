#!/usr/bin/env python3
"""session_test.py CAIRN SOURCE_DIR: sessions of the console: cookie, CSRF token, what ends them, and what they may not do."""
import http.client, json, re, socket, ssl, subprocess, sys, tempfile, time
from served import Served, expect, finish

server = Served(sys.argv[1])


def sign_in(role="admin", key=None, **headers):
    answer = server.call("POST", "/v1/session", role=role, key=key, **headers)
    expect("signing in", answer.status == 201, answer.text)
    return answer, answer.headers["set-cookie"].split(";")[0], answer.json["csrf"]


def until(what, check, seconds=20):
    deadline = time.monotonic() + seconds
    while not check() and time.monotonic() < deadline:
        time.sleep(0.05)
    expect(what, check())


# Signing in.
answer, cookie, csrf = sign_in()
given = answer.headers["set-cookie"]
expect("scripts cannot read the cookie, and other sites cannot send it", re.fullmatch(r"cairn_session=[0-9a-f]{64}; Path=/; HttpOnly; SameSite=Strict", given), given)
expect("the answer is kept nowhere", answer.headers["cache-control"] == "no-store")
expect("it names the person and what they may do", answer.json["user"] == "admin-person" and answer.json["roles"] == ["admin"] and
       {"view", "administer", "operate"} <= set(answer.json["permissions"]) and answer.json["auth"] == "session", answer.text)
expect("neither the key nor the token is in it", server.keys["admin"] not in answer.text and cookie.split("=")[1] not in answer.text)
expect("nobody signs in without a key", server.call("POST", "/v1/session", role=None).status == 401)
expect("nor with a wrong one", server.call("POST", "/v1/session", key=server.keys["admin"][:-1] + "x").status == 401)
expect("nor in the body", server.call("POST", "/v1/session", {"api_key": server.keys["admin"]}, role=None).status == 401)
expect("a session does not start another one", server.call("POST", "/v1/session", role=None, cookie=cookie, x_cairn_csrf=csrf).status == 422)

# What the session says about itself.
shown = server.call("GET", "/v1/session", role=None)
expect("without a cookie no user is signed in, and that is no error", shown.status == 200 and shown.json["user"] is None and shown.json["csrf"] == "" and
       shown.json["permissions"] == [] and shown.json["sign_in"] == ["key"], shown.text)
shown = server.call("GET", "/v1/session", role=None, cookie=cookie)
expect("with it the session is shown", shown.json == answer.json, shown.text)
for role, may in [("viewer", {"view", "view_tasks"}), ("task_worker", {"view_tasks", "work_tasks"}), ("worker", {"work_runs", "report_runs"})]:
    mine = sign_in(role)[0].json
    expect(f"permissions of {role}", set(mine["permissions"]) == may, mine)
expect("a key in the header has no token", server.call("GET", "/v1/session").json["csrf"] == "" and server.call("GET", "/v1/session").json["auth"] == "bearer")

# Reading, and changing with the token only.
expect("the cookie reads", server.call("GET", "/v1/info", role=None, cookie=cookie).status == 200)
expect("beside other cookies", server.call("GET", "/v1/info", role=None, cookie=f"a=b; {cookie}; theme=dark").status == 200)
start = {"definition": "none"}
for token in [None, "", "x", csrf[:-1], csrf.upper(), sign_in("viewer")[2]]:
    more = {} if token is None else {"x_cairn_csrf": token}
    refused = server.call("POST", "/v1/instances", start, role=None, cookie=cookie, **more)
    expect(f"a change with the token {token!r} is refused", refused.status == 403 and refused.json["type"] == "/problems/csrf", refused.text)
for method, path in [("DELETE", "/v1/instances/x"), ("PATCH", "/v1/instances/x/state"), ("DELETE", "/v1/session"), ("POST", "/v1/keys")]:
    refused = server.call(method, path, {}, role=None, cookie=cookie)
    expect(f"so is {method} {path}", refused.status in (403, 404, 405) and (refused.status != 403 or refused.json["type"] == "/problems/csrf"), refused.text)
expect("with the token it is not", server.call("POST", "/v1/instances", start, role=None, cookie=cookie, x_cairn_csrf=csrf).status == 404)
large = {"definition": "none", "input": "x" * 300_000}
expect("a large body needs the token before it is read", server.call("POST", "/v1/instances", large, role=None, cookie=cookie).status == 403)
expect("and is read with it", server.call("POST", "/v1/instances", large, role=None, cookie=cookie, x_cairn_csrf=csrf).status == 404)
expect("HEAD is reading", server.call("HEAD", "/v1/info", role=None, cookie=cookie).status == 200)
viewer = sign_in("viewer")
refused = server.call("POST", "/v1/instances", start, role=None, cookie=viewer[1], x_cairn_csrf=viewer[2])
expect("a session may do what its key may", refused.status == 403 and refused.json["type"] == "/problems/forbidden", refused.text)

# Two credentials, two cookies, other pages.
token = cookie.split("=")[1]
both = server.call("GET", "/v1/session", role="viewer", cookie=cookie)
expect("a header counts, not the cookie", both.json["user"] == "viewer-person" and both.json["auth"] == "bearer", both.text)
expect("a wrong header is not repaired by the cookie", server.call("GET", "/v1/info", role=None, cookie=cookie, authorization="Bearer x").status == 401)
expect("nor an empty one", server.call("GET", "/v1/info", role=None, cookie=cookie, authorization="Basic eDp5").status == 401)
expect("a change with a key needs no token", server.call("POST", "/v1/instances", start, cookie=cookie).status == 404)
for bad in [f"{cookie}; {cookie}", f"{cookie}; {viewer[1]}", f"__Host-{cookie}; {cookie}", f"cairn_session={token.upper()}", f"cairn_session={token}0", "cairn_session=",
            f"Cairn_session={token}", f"xcairn_session={token}", f"cairn_session={server.keys['admin']}", "cairn_session=" + "0" * 64, f'cairn_session="{token}"']:
    expect(f"no session: {bad[:60]}", server.call("GET", "/v1/info", role=None, cookie=bad).status == 401)
expect("the token of a session is no key", server.call("GET", "/v1/info", key=token).status == 401)
for site, status in [("same-origin", 200), ("none", 200), ("same-site", 401), ("cross-site", 401)]:
    seen = server.call("GET", "/v1/info", role=None, cookie=cookie, sec_fetch_site=site)
    expect(f"a request of a page {site}", seen.status == status, seen.text)
foreign = server.call("POST", "/v1/instances", start, role=None, cookie=cookie, x_cairn_csrf=csrf, origin="https://evil.example")
expect("a page of another site may not act even with the token", foreign.status == 403 and foreign.json["type"].endswith("foreign_origin"), foreign.text)
expect("nor sign in", server.call("POST", "/v1/session", origin="https://evil.example").status == 403)

# Under TLS, also where a proxy has the certificate.
host = f"127.0.0.1:{server.port}"
secure = server.call("POST", "/v1/session", origin="https://" + host)
expect("behind a proxy with TLS the cookie is secure", re.fullmatch(r"__Host-cairn_session=[0-9a-f]{64}; Path=/; HttpOnly; SameSite=Strict; Secure", secure.headers["set-cookie"]),
       secure.headers.get("set-cookie"))
expect("and is accepted", server.call("GET", "/v1/info", role=None, cookie=secure.headers["set-cookie"].split(";")[0]).status == 200)

# The audit trail names the person, the key and the session.
made = server.call("POST", "/v1/signals", {"name": "s"}, role=None, cookie=cookie, x_cairn_csrf=csrf, x_cairn_reason="because")
expect("a signal in a session", made.status < 300, made.text)
rows = server.call("GET", "/v1/audit?limit=1000").json["items"]
key_id = "key:" + server.keys["admin"].split("_")[1]
signal = [row for row in rows if row["resource"] == "/v1/signals"][-1]
expect("who acted", signal["who"] == "admin-person" and signal["details"]["account"] == key_id and signal["details"]["session"].startswith("session-") and
       signal["why"] == "because", signal)
signed = [row for row in rows if row["what"] == "createSession"]
expect("who signed in", signed and signed[0]["who"] == "admin-person" and signed[0]["details"]["account"] == key_id, signed)
expect("no secret is in the trail", all(secret not in json.dumps(rows) for secret in (token, csrf, server.keys["admin"])))
keys = server.call("GET", "/v1/keys").json["items"]
expect("sessions are not listed as keys", {key["subject"] for key in keys} == {role + "-person" for role in server.keys} and len(keys) == len(server.keys), keys)

# Limits are those of the key: a session is no second credential.
# (limits_test.py has the limits; here the account that they count.)
expect("the log and the limits see the key", signal["details"]["account"] == signed[0]["details"]["account"])

# A stream ends when its session ends, and when its key is revoked.
def stream(cookie):
    connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=60)
    connection.request("GET", "/v1/events", headers={"cookie": cookie})
    answer = connection.getresponse()
    expect("a stream in a session", answer.status == 200, answer.status)
    return connection, answer


def ends(answer):
    """Reads until the server closes the stream; the socket's own limit of time fails the test."""
    try:
        while answer.read1(65536):
            pass
        return True
    except (TimeoutError, socket.timeout):
        return False


key = server.call("POST", "/v1/keys", {"subject": "temp", "roles": ["operator"]}).json
first, second = sign_in(key=key["key"]), sign_in(key=key["key"])
streams = [stream(first[1]), stream(second[1])]
ended = server.call("DELETE", "/v1/session", role=None, cookie=first[1], x_cairn_csrf=first[2])
expect("signing out", ended.status == 204 and "Max-Age=0" in ended.headers["set-cookie"] and ended.headers["set-cookie"].startswith("cairn_session=;"), ended.headers)
expect("ends the session at once", server.call("GET", "/v1/info", role=None, cookie=first[1]).status == 401)
expect("for changes too", server.call("POST", "/v1/instances", start, role=None, cookie=first[1], x_cairn_csrf=first[2]).status == 401)
expect("its stream ends", ends(streams[0][1]))
expect("the other session of the key goes on", server.call("GET", "/v1/info", role=None, cookie=second[1]).status == 200)
expect("revoking the key", server.call("DELETE", f"/v1/keys/{key['id']}").status == 204)
until("ends its sessions", lambda: server.call("GET", "/v1/info", role=None, cookie=second[1]).status == 401)
expect("and their streams", ends(streams[1][1]))
expect("such a cookie is no user", server.call("GET", "/v1/session", role=None, cookie=second[1]).json["user"] is None)
for connection, _ in streams:
    connection.close()

# Signing in again ends the browser's earlier session.
old = sign_in("operator")
new = sign_in("operator", cookie=old[1])
expect("signing in gives a new token", old[1] != new[1] and old[2] != new[2])
expect("and ends the old session", server.call("GET", "/v1/info", role=None, cookie=old[1]).status == 401 and
       server.call("GET", "/v1/info", role=None, cookie=new[1]).status == 200)

# One key has at most 64 sessions; their rows are used again.
many = [sign_in("starter")[1] for _ in range(66)]
alive = [server.call("GET", "/v1/info", role=None, cookie=one).status for one in (many[0], many[-1])]
until("the oldest of too many sessions ends", lambda: server.call("GET", "/v1/info", role=None, cookie=many[0]).status == 401)
expect("the newest is alive", server.call("GET", "/v1/info", role=None, cookie=many[-1]).status == 200, alive)

# A restart does not end a session.
server.end()
server.start("--session-lifetime", "1m")
expect("a session outlives a restart", server.call("GET", "/v1/info", role=None, cookie=cookie).status == 200)
server.end()

# A key that has expired takes its sessions along.
server.start()
short = server.call("POST", "/v1/keys", {"subject": "short", "roles": ["viewer"], "expires_in": "3s"}).json["key"]
brief = sign_in(key=short)
until("an expired key ends its sessions", lambda: server.call("GET", "/v1/info", role=None, cookie=brief[1]).status == 401)
server.end()

# With only sessions in the store no caller could sign in: the server says so at its start.
for key in keys:
    server.run("keys", "revoke", key["id"], "--store", server.store)
left = server.run("keys", "list", "--json", "--store", server.store)
server.start()
expect("sessions are no keys to enter with", server.port is None and "no caller could authenticate" in server.said, (server.port, left.stdout[-300:]))

# Over TLS a cookie that a page without TLS could have set does not count.
with tempfile.TemporaryDirectory() as folder:
    pair = [folder + "/c.pem", folder + "/k.pem"]
    subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "2", "-subj", "/CN=localhost",
                    "-out", pair[0], "-keyout", pair[1]], check=True, capture_output=True)
    server = Served(sys.argv[1], "--tls-certificate", pair[0], "--tls-key", pair[1])

    def over_tls(method, path, **headers):
        connection = http.client.HTTPSConnection("127.0.0.1", server.port, timeout=60, context=ssl._create_unverified_context())
        connection.request(method, path, headers=headers)
        answer = connection.getresponse()
        answer.read()
        connection.close()
        return answer

    given = over_tls("POST", "/v1/session", authorization="Bearer " + server.keys["admin"]).getheader("set-cookie")
    expect("the cookie is secure and bound to the host", re.fullmatch(r"__Host-cairn_session=[0-9a-f]{64}; Path=/; HttpOnly; SameSite=Strict; Secure", given), given)
    secret = given.split(";")[0].split("=")[1]
    for name, status in [("__Host-cairn_session", 200), ("__Secure-cairn_session", 200), ("cairn_session", 401)]:
        answer = over_tls("GET", "/v1/info", cookie=f"{name}={secret}")
        expect(f"{name} over TLS", answer.status == status, answer.status)
    server.end()

# A server without authentication.
server = Served(sys.argv[1], "--auth", "none", keys=False)
shown = server.call("GET", "/v1/session", role=None)
expect("everybody may do everything", shown.json["user"] == "anonymous" and shown.json["auth"] == "none" and "administer" in shown.json["permissions"], shown.text)
expect("under a name", server.call("GET", "/v1/session", role=None, x_cairn_user="ada").json["user"] == "ada")
expect("there is nothing to sign in to", server.call("POST", "/v1/session", {}, role=None).status == 409)
expect("nor out of", server.call("DELETE", "/v1/session", role=None).status == 204)
expect("a cookie of another server changes nothing", server.call("POST", "/v1/signals", {"name": "x"}, role=None, cookie=cookie).status < 300)
expect("other host names are refused", server.call("GET", "/v1/session", role=None, host="evil.example").status == 403)
server.end()
finish()
