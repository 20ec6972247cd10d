"""A receiver with the standard library: it verifies both signatures over the
raw text. It prints its port, and takes its secret at PUT /secret."""

import base64
import hashlib
import hmac
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qs, urlsplit

secret = ""


def verify(raw, headers):
    want = hmac.new(secret.encode(), raw, hashlib.sha256).hexdigest()
    if not hmac.compare_digest(want, headers.get("x-service-signature", "")):
        return "x-service-signature"
    key = base64.b64decode(secret.removeprefix("whsec_"))
    signed = f"{headers['webhook-id']}.{headers['webhook-timestamp']}.".encode() + raw
    want = "v1," + base64.b64encode(hmac.new(key, signed, hashlib.sha256).digest()).decode()
    if not any(hmac.compare_digest(want, s) for s in headers["webhook-signature"].split(" ")):
        return "webhook-signature"
    return ""


class Receiver(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def answer(self):
        global secret
        body = self.rfile.read(int(self.headers.get("content-length", 0)))
        wrong = ""
        if self.path == "/secret":
            secret = body.decode()
        elif self.command == "GET":
            wrong = verify(parse_qs(urlsplit(self.path).query)["payload"][0].encode(), self.headers)
        else:
            wrong = verify(body, self.headers)
        self.send_response(400 if wrong else 200)
        self.send_header("content-length", str(len(wrong)))
        self.end_headers()
        self.wfile.write(wrong.encode())

    do_GET = do_POST = do_PUT = answer

    def log_message(self, *args):
        pass


server = ThreadingHTTPServer(("127.0.0.1", 0), Receiver)
print(server.server_port, flush=True)
server.serve_forever()
