#!/usr/bin/env python3
"""Certificates of the services that are called: tls_test.py CAIRN"""

import http.server
import os
import ssl
import subprocess
import sys
import tempfile
import threading
import unittest

from server import Server

BINARY = os.path.abspath(sys.argv[1])
DEFINITION = """
cairn: 1
name: secured
version: 1.0.0
steps:
  - call:
      http: { url: "%s" }
      retry: none
      result: said
      on_failure: [ { set: { said: = error.code, why: = error.message } } ]
output: = state
"""


def certificate(folder, name, subject):
    subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "2",
                    "-subj", "/CN=" + subject, "-addext", "subjectAltName=DNS:" + subject, "-keyout", name + ".key", "-out",
                    name + ".pem"], cwd=folder, check=True, stderr=subprocess.DEVNULL)


class Service:
    """Answers https on a loopback port, with the given certificate, and counts what it was asked."""

    def __init__(self, folder, name):
        self.asked = 0
        service = self

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_GET(self):
                service.asked += 1
                answer = b'"hello"'
                self.send_response(200)
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", str(len(answer)))
                self.end_headers()
                self.wfile.write(answer)

            def log_message(self, *_):
                pass

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.server.handle_error = lambda *_: None  # a caller that refuses the certificate is what this is about
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(os.path.join(folder, name + ".pem"), os.path.join(folder, name + ".key"))
        self.server.socket = context.wrap_socket(self.server.socket, server_side=True, do_handshake_on_connect=False)
        self.port = self.server.server_address[1]
        threading.Thread(target=self.server.serve_forever, daemon=True).start()


class TlsTest(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory(prefix="cairn_tls_")
        certificate(self.folder.name, "right", "localhost")
        certificate(self.folder.name, "other", "other.example")

    def tearDown(self):
        self.folder.cleanup()

    def output(self, service, *arguments):
        definition = os.path.join(self.folder.name, "secured.yaml")
        with open(definition, "w") as file:
            file.write(DEFINITION % ("https://localhost:%d/" % service.port))
        with Server(BINARY, definition, "--egress", "127.0.0.0/8,::1", *arguments) as server:
            status, ended = server.call("POST", "/v1/instances?wait=30s", {"definition": "secured", "input": {}})
            self.assertEqual(ended["status"], "completed", (status, ended))
            return ended["output"]

    def ca(self, name):
        return "--ca-file", os.path.join(self.folder.name, name + ".pem")

    def test_a_certificate_that_nobody_vouches_for_is_refused(self):
        service = Service(self.folder.name, "right")
        output = self.output(service)
        self.assertEqual(output["said"], "connect_failed")
        self.assertIn("TLS", output["why"])
        self.assertEqual(service.asked, 0)

    def test_a_named_authority_is_trusted(self):
        service = Service(self.folder.name, "right")
        self.assertEqual(self.output(service, *self.ca("right")), {"said": "hello"})
        self.assertEqual(service.asked, 1)

    def test_a_certificate_for_another_name_is_refused(self):
        service = Service(self.folder.name, "other")
        self.assertEqual(self.output(service, *self.ca("other"))["said"], "connect_failed")
        self.assertEqual(service.asked, 0)

    def test_a_file_that_is_not_there_is_said_at_start(self):
        said = subprocess.run([BINARY, "dev", "--store", "memory:", "--listen", "127.0.0.1:0", *self.ca("nowhere")],
                              cwd=self.folder.name, capture_output=True, text=True)
        self.assertEqual(said.returncode, 8, said)
        self.assertIn("nowhere.pem: cannot read the certificate authorities", said.stderr)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=1)
