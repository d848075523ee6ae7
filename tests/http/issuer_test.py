#!/usr/bin/env python3
"""issuer_test.py CAIRN SOURCE_DIR: keys of a token issuer over https, from an address inside the network and a private authority; and from a file:
a key that is removed or replaced ends what its tokens may do, and what they have open."""
import base64, http.client, http.server, json, os, select, socket, ssl, subprocess, sys, tempfile, threading, time
import tokens
from served import Served, expect, finish

cairn = os.path.abspath(sys.argv[1])
folder = tempfile.TemporaryDirectory()
os.chdir(folder.name)


def openssl(*arguments, stdin=None):
    return subprocess.run(["openssl", *arguments], check=True, capture_output=True, input=stdin).stdout


def coded(data):
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


openssl("req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "2", "-subj", "/CN=issuer",
        "-addext", "subjectAltName=IP:127.0.0.1", "-keyout", "tls.key", "-out", "tls.pem")
openssl("genpkey", "-algorithm", "ed25519", "-out", "token.key")
public = openssl("pkey", "-in", "token.key", "-pubout", "-outform", "DER")[-32:]
answer = {"status": 200, "body": json.dumps({"keys": [{"kty": "OKP", "crv": "Ed25519", "kid": "k1", "x": coded(public)}]}).encode()}
asked = threading.Semaphore(0)


class Issuer(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        self.send_response(answer["status"])
        self.send_header("Content-Length", str(len(answer["body"])))
        self.end_headers()
        self.wfile.write(answer["body"])
        asked.release()

    def log_message(self, *_):
        pass


listening = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Issuer)
context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
context.load_cert_chain("tls.pem", "tls.key")
listening.socket = context.wrap_socket(listening.socket, server_side=True)
threading.Thread(target=listening.serve_forever, daemon=True).start()
with open("cairn.toml", "w") as file:
    file.write(f'[oidc]\nissuer = "https://id.example"\naudience = "cairn"\njwks = "https://127.0.0.1:{listening.server_port}/keys"\n')

head = coded(json.dumps({"alg": "EdDSA", "kid": "k1"}).encode())
claims = {"iss": "https://id.example", "aud": "cairn", "sub": "ann", "exp": int(time.time()) + 3600, "roles": ["cairn:viewer"]}
signed = head + "." + coded(json.dumps(claims).encode())
with open("signed", "w") as file:
    file.write(signed)
token = signed + "." + coded(openssl("pkeyutl", "-sign", "-inkey", "token.key", "-rawin", "-in", "signed"))


def status_of(server):
    """Until the first fetch has ended, the server cannot tell (503)."""
    end = time.monotonic() + 30
    while True:
        status = server.call("GET", "/v1/info", key=token).status
        if status != 503 or time.monotonic() > end:
            return status


server = Served(cairn, "--config", "cairn.toml", "--ca-file", "tls.pem")
expect("the issuer is asked", asked.acquire(timeout=30))
expect("a token is accepted, with keys from a private address and authority", status_of(server) == 200, status_of(server))
server.end()
server = Served(cairn, "--config", "cairn.toml")
answered = server.call("GET", "/v1/info", key=token)
expect("without the authority no key is fetched", answered.status in (401, 503) and not asked.acquire(blocking=False), answered.text)
server.end()
answer["body"] = b" " * (1 << 20) + answer["body"]
server = Served(cairn, "--config", "cairn.toml", "--ca-file", "tls.pem")
expect("the issuer is asked again", asked.acquire(timeout=30))
answered = server.call("GET", "/v1/info", key=token)
expect("keys of more than 1 MiB are refused", answered.status in (401, 503), answered.text)
server.end()


def until(what, holds, seconds=60):
    end = time.monotonic() + seconds
    while not holds() and time.monotonic() < end:
        time.sleep(0.05)
    expect(what, holds())


def open_stream(token):
    stream = socket.create_connection(("127.0.0.1", server.port), timeout=60)
    stream.sendall(f"GET /v1/events HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {token}\r\n\r\n".encode())
    expect("a stream is open", stream.recv(4096).startswith(b"HTTP/1.1 200"))
    return stream


def ends(stream, seconds=60):
    """Reads until the server closes the stream."""
    end = time.monotonic() + seconds
    while (left := end - time.monotonic()) > 0:
        if select.select([stream], [], [], left)[0] and not stream.recv(4096):
            return True
    return False


# Keys in a file: one that is removed, and another one under the same id.
issuer = tokens.Issuer()
server = Served(cairn, *issuer.flags())
status = lambda token: server.call("GET", "/v1/info", key=token).status
first = issuer.token("ann", ["cairn:viewer"])
expect("a token of the first key", status(first) == 200)
stream = open_stream(first)


def sign_in(token):
    """The cookie of a session that begins with this token."""
    made = server.call("POST", "/v1/session", key=token)
    expect("a session begins with a token", made.status == 201, made.text)
    return made.headers["set-cookie"].split(";")[0]


of_session = lambda cookie: server.call("GET", "/v1/info", role=None, cookie=cookie).status
session = sign_in(first)
expect("it is accepted", of_session(session) == 200)
issuer.publish(issuer.new_key("second"))
until("a key that was removed is refused", lambda: status(first) == 401)
until("and so is a session that began with its token", lambda: of_session(session) == 401)
expect("and the stream of its token ends", ends(stream))
second = issuer.token("ann", ["cairn:viewer"], key="second")
expect("a token of the second key", status(second) == 200)
session = sign_in(second)
expect("a session of the second key", of_session(session) == 200)
stream = open_stream(second)
issuer.publish(issuer.new_key("second"))
replaced = issuer.token("ann", ["cairn:viewer"], key="second")
until("another key under the same id is accepted", lambda: status(replaced) == 200)
until("and the key before it is refused", lambda: status(second) == 401)
until("and so is its session", lambda: of_session(session) == 401)
session = sign_in(replaced)
expect("a session of the new key", of_session(session) == 200)
expect("the stream of its token ends too", ends(stream))

# Any caller can send bad tokens: the log says how many it left out.
connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=60)
for _ in range(300):
    connection.request("GET", "/v1/info", headers={"authorization": "Bearer " + replaced + "A"})
    answered = connection.getresponse()
    answered.read()
connection.close()
expect("SIGTERM ends with 0", server.end() == 0, server.said)
lines = server.said.count("auth.token_refused")
expect("refused tokens do not fill the log", 1 <= lines <= 100 and answered.status == 401, (lines, answered.status))
server.start(*issuer.flags())
expect("a session survives a restart", of_session(session) == 200)
expect("SIGTERM ends with 0", server.end() == 0, server.said)
finish()
