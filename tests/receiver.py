"""A server outside of cairn, for tests: a partner that is called, a receiver of events, a collector of traces."""
import http.server, sys, threading


class Receiver(http.server.ThreadingHTTPServer):
    """Listens on a free port of this machine. `answer(path, headers, body)` gets the bytes of each POST and gives the
    status, the JSON text, and perhaps a dict of further headers. It is called from several threads."""
    daemon_threads = True
    request_queue_size = 128

    def __init__(self, answer):
        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self):
                body = self.rfile.read(int(self.headers["content-length"]))
                status, text, *more = answer(self.path, self.headers, body)
                self.send_response(status)
                self.send_header("content-type", "application/json")
                for name, value in (more[0] if more else {}).items():
                    self.send_header(name, value)
                self.send_header("content-length", str(len(text.encode())))
                self.end_headers()
                self.wfile.write(text.encode())

            def log_message(self, *_):
                pass

        super().__init__(("127.0.0.1", 0), Handler)
        self.url = "http://127.0.0.1:%d" % self.server_port
        threading.Thread(target=self.serve_forever, daemon=True).start()

    def handle_error(self, request, address):
        if not isinstance(sys.exc_info()[1], ConnectionError):  # a caller that was stopped or killed is no fault
            super().handle_error(request, address)
