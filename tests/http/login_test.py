#!/usr/bin/env python3
"""login_test.py CAIRN SOURCE_DIR: signing in to the console at an OpenID Connect provider: authorization code with PKCE."""
import base64, hashlib, http.server, json, os, re, ssl, subprocess, sys, tempfile, threading, time, urllib.parse
from served import Served, expect, finish

cairn = os.path.abspath(sys.argv[1])
folder = tempfile.TemporaryDirectory()
os.chdir(folder.name)


def openssl(*arguments):
    return subprocess.run(["openssl", *arguments], check=True, capture_output=True).stdout


def coded(data):
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


openssl("req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "2", "-subj", "/CN=issuer",
        "-addext", "subjectAltName=IP:127.0.0.1", "-keyout", "tls.key", "-out", "tls.pem")
openssl("genpkey", "-algorithm", "ed25519", "-out", "token.key")
public = openssl("pkey", "-in", "token.key", "-pubout", "-outform", "DER")[-32:]


def token(**claims):
    head = coded(json.dumps({"alg": "EdDSA", "kid": "k1"}).encode())
    given = {"iss": "https://id.example", "aud": "console", "sub": "ann-1", "email": "ann@example", "exp": int(time.time()) + 60, "roles": ["cairn:operator", "clerk"]}
    text = head + "." + coded(json.dumps({**given, **claims}).encode())
    with open("signed", "w") as file:
        file.write(text)
    return text + "." + coded(openssl("pkeyutl", "-sign", "-inkey", "token.key", "-rawin", "-in", "signed"))


asked = []  # the forms that the server has sent
issued = {}  # code → (status, body)


class Provider(http.server.BaseHTTPRequestHandler):
    def answer(self, status, body):
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def do_GET(self):
        self.answer(200, json.dumps({"keys": [{"kty": "OKP", "crv": "Ed25519", "kid": "k1", "x": coded(public)}]}).encode())

    def do_POST(self):
        form = dict(urllib.parse.parse_qsl(self.rfile.read(int(self.headers["content-length"])).decode()))
        asked.append(form)
        status, body = issued.pop(form.get("code"), (400, {"error": "invalid_grant"}))
        self.answer(status, json.dumps(body).encode())

    def log_message(self, *_):
        pass


listening = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Provider)
context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
context.load_cert_chain("tls.pem", "tls.key")
listening.socket = context.wrap_socket(listening.socket, server_side=True)
threading.Thread(target=listening.serve_forever, daemon=True).start()
place = f"https://127.0.0.1:{listening.server_port}"
FLAGS = ["--ca-file", "tls.pem", "--oidc-issuer", "https://id.example", "--oidc-audience", "cairn", "--oidc-jwks", place + "/keys", "--oidc-person-claim", "email",
         "--oidc-client-id", "console", "--oidc-client-secret", "s&cret", "--oidc-authorize-url", place + "/authorize?tenant=1", "--oidc-token-url", place + "/token",
         "--oidc-redirect-url", "https://cairn.example/sign-in", "--oidc-scope", "openid email"]
server = Served(cairn, *FLAGS)
expect("the console may offer it", server.call("GET", "/v1/session", role=None).json["sign_in"] == ["key", "oidc"])


def begin():
    """Goes to the provider as a browser does. Returns what the provider sees, and the cookie."""
    answer = server.call("GET", "/v1/session/login", role=None)
    expect("the browser is sent to the provider", answer.status == 303 and answer.headers["location"].startswith(place + "/authorize?tenant=1&"), answer.headers)
    seen = dict(urllib.parse.parse_qsl(urllib.parse.urlsplit(answer.headers["location"]).query))
    return seen, answer.headers["set-cookie"]


def finish_login(code, state, cookie, **headers):
    return server.call("POST", "/v1/session/login", {"code": code, "state": state}, role=None, cookie=cookie.split(";")[0], **headers)


def until_known(ask):
    """Until the first fetch of the issuer's keys has ended, the server cannot tell (503)."""
    end = time.monotonic() + 30
    while True:
        answer = ask()
        if answer.status != 503 or time.monotonic() > end:
            return answer


seen, cookie = begin()
expect("the request has all of OpenID Connect and PKCE", {name: seen[name] for name in ("response_type", "client_id", "redirect_uri", "scope", "code_challenge_method")} ==
       {"response_type": "code", "client_id": "console", "redirect_uri": "https://cairn.example/sign-in", "scope": "openid email", "code_challenge_method": "S256"} and
       len(seen["state"]) == 64 and len(seen["nonce"]) == 64 and "client_secret" not in seen, seen)
expect("its cookie is for this browser only", re.fullmatch(r"__Host-cairn_login=[0-9a-f.]{194}; Path=/; HttpOnly; SameSite=Strict; Secure; Max-Age=600", cookie), cookie)
other, other_cookie = begin()
expect("every sign-in has its own secrets", other["state"] != seen["state"] and other["nonce"] != seen["nonce"] and other["code_challenge"] != seen["code_challenge"])


def try_once():
    issued["good"] = (200, {"id_token": token(nonce=seen["nonce"]), "access_token": "opaque", "token_type": "Bearer"})
    return finish_login("good", seen["state"], cookie)


answer = until_known(try_once)
expect("the code signs in", answer.status == 201 and answer.json["user"] == "ann@example" and answer.json["roles"] == ["operator"] and answer.json["csrf"], answer.text)
form = asked[-1]
expect("the server redeems the code with its verifier", form["grant_type"] == "authorization_code" and form["code"] == "good" and form["client_secret"] == "s&cret" and
       form["redirect_uri"] == seen["redirect_uri"] and coded(hashlib.sha256(form["code_verifier"].encode()).digest()) == seen["code_challenge"], form)


def session_of(role=None):
    import http.client
    connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=60)
    issued["again"] = (200, {"id_token": token(nonce=seen["nonce"])})
    connection.request("POST", "/v1/session/login", json.dumps({"code": "again", "state": seen["state"]}), {"cookie": cookie.split(";")[0], "content-type": "application/json"})
    got = connection.getresponse()
    body = json.loads(got.read())
    cookies = [value for name, value in got.getheaders() if name.lower() == "set-cookie"]
    connection.close()
    return body, cookies


body, cookies = session_of()
expect("the session's cookie comes, the other one goes", len(cookies) == 2 and re.fullmatch(r"__Host-cairn_session=[0-9a-f]{64}; Path=/; HttpOnly; SameSite=Strict; Secure", cookies[0]) and
       cookies[1].startswith("__Host-cairn_login=;") and "Max-Age=0" in cookies[1], cookies)
mine = cookies[0].split(";")[0]
expect("the session reads", server.call("GET", "/v1/info", role=None, cookie=mine).status == 200)
expect("and changes with its token", server.call("POST", "/v1/signals", {"name": "s"}, role=None, cookie=mine, x_cairn_csrf=body["csrf"]).status < 300 and
       server.call("POST", "/v1/signals", {"name": "s"}, role=None, cookie=mine).status == 403)
rows = server.call("GET", "/v1/audit?limit=1000").json["items"]
signed = [row for row in rows if row["what"] == "finishLogin"]
expect("the audit trail names the person", signed and signed[-1]["who"] == "ann@example" and signed[-1]["details"]["account"] == "https://id.example#ann-1", signed)
expect("no secret is in the trail", form["code_verifier"] not in json.dumps(rows) and mine.split("=")[1] not in json.dumps(rows))
ended = server.call("DELETE", "/v1/session", role=None, cookie=mine, x_cairn_csrf=body["csrf"], origin=f"https://127.0.0.1:{server.port}")
expect("signing out", ended.status == 204 and server.call("GET", "/v1/info", role=None, cookie=mine).status == 401, ended.text)

# Everything that does not belong together is refused, and the provider is not asked when the browser is another one.
count = len(asked)
for code, state, held in [("good", seen["state"], "x=1"), ("good", other["state"], cookie), ("good", "", cookie), ("", seen["state"], cookie), ("good", seen["state"], f"{cookie.split(';')[0]}; {other_cookie.split(';')[0]}"),
                          ("good", seen["state"], "cairn_login=x")]:
    answer = finish_login(code, state, held) if ";" not in held or held == cookie else server.call("POST", "/v1/session/login", {"code": code, "state": state}, role=None, cookie=held)
    expect(f"no sign-in is in progress: {code!r} {state[:4]!r} {held[:24]!r}", answer.status == 404, (answer.status, answer.text))
expect("an empty request is none", server.call("POST", "/v1/session/login", role=None).status == 404)
expect("the provider was not asked", len(asked) == count, asked[count:])
expect("a page of another site cannot finish it", finish_login("good", seen["state"], cookie, origin="https://evil.example").status == 403)
for what, status, answered in [
        ("an unknown code", 401, None), ("no ID token", 401, {"access_token": "x"}), ("a token that is none", 401, {"id_token": "x"}),
        ("another nonce", 401, {"id_token": token(nonce=other["nonce"])}), ("no nonce", 401, {"id_token": token()}),
        ("another audience", 401, {"id_token": token(nonce=seen["nonce"], aud="cairn")}), ("another issuer", 401, {"id_token": token(nonce=seen["nonce"], iss="https://evil.example")}),
        ("an old token", 401, {"id_token": token(nonce=seen["nonce"], exp=int(time.time()) - 3600)}), ("no person", 401, {"id_token": token(nonce=seen["nonce"], email="")}),
        ("no role here", 403, {"id_token": token(nonce=seen["nonce"], roles=["clerk"])})]:
    if answered:
        issued["c"] = (200, answered)
    answer = finish_login("c", seen["state"], cookie)
    expect(f"{what} is refused", answer.status == status and "set-cookie" not in answer.headers, (answer.status, answer.text))
issued["c"] = (500, {})
expect("a provider that fails is no refusal", finish_login("c", seen["state"], cookie).status == 503)
expect("a token for the console is no credential for the API", server.call("GET", "/v1/info", key=token(nonce="x")).status == 401)
server.end()

# Without a client there is nothing to sign in to; half of the settings stop the server.
server = Served(cairn, *FLAGS[:8])
expect("no provider, no route", server.call("GET", "/v1/session/login", role=None).status == 404 and server.call("GET", "/v1/session", role=None).json["sign_in"] == ["key"])
server.end()
for missing in ("--oidc-authorize-url", "--oidc-token-url", "--oidc-redirect-url", "--oidc-issuer"):
    at = FLAGS.index(missing)
    made = subprocess.run([cairn, "serve", "--store", "memory:", *FLAGS[:at], *FLAGS[at + 2:]], capture_output=True, text=True, timeout=60)
    expect(f"{missing} is needed", made.returncode != 0 and missing[7:].replace("-", "_") in made.stderr, made.stderr)
for flag, wrong in (("--oidc-token-url", "http://127.0.0.1/token"), ("--oidc-redirect-url", "https://cairn.example/elsewhere")):
    made = subprocess.run([cairn, "serve", "--store", "memory:", *FLAGS, flag, wrong], capture_output=True, text=True, timeout=60)
    expect(f"{flag} {wrong} is refused", made.returncode != 0 and flag[7:].replace("-", "_") in made.stderr, made.stderr)
finish()
