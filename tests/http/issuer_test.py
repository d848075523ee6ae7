#!/usr/bin/env python3
"""issuer_test.py CAIRN SOURCE_DIR: keys of a token issuer over https, from an address inside the network and a private authority."""
import base64, http.server, json, os, ssl, subprocess, sys, tempfile, threading, time
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
finish()
