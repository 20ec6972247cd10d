"""A server that sends scripted responses, byte for byte, and records the requests."""

from __future__ import annotations

import socket
import threading


class ScriptedServer:
    """Sends one response for each connection, then closes it. The last response repeats."""

    def __init__(self, *responses: bytes) -> None:
        self.responses = list(responses)
        self.requests: list[tuple[str, dict[str, str], bytes]] = []
        self._socket = socket.create_server(("127.0.0.1", 0))
        self.url = f"http://127.0.0.1:{self._socket.getsockname()[1]}"
        self._thread = threading.Thread(target=self._serve, daemon=True)
        self._thread.start()

    def __enter__(self) -> ScriptedServer:
        return self

    def __exit__(self, *_: object) -> None:
        self._socket.shutdown(socket.SHUT_RDWR)
        self._socket.close()
        self._thread.join()

    def _serve(self) -> None:
        while True:
            try:
                connection, _ = self._socket.accept()
            except OSError:
                return
            with connection, connection.makefile("rb") as file:
                line = file.readline().decode().strip()
                headers = {}
                while header := file.readline().decode().strip():
                    name, _, value = header.partition(":")
                    headers[name.lower()] = value.strip()
                body = file.read(int(headers.get("content-length", 0)))
                self.requests.append((line, headers, body))
                response = self.responses.pop(0) if len(self.responses) > 1 else self.responses[0]
                connection.sendall(response)


def response(status: int, body: str, *headers: str) -> bytes:
    lines = [f"HTTP/1.1 {status} X", f"Content-Length: {len(body.encode())}", "Connection: close", *headers]
    return ("\r\n".join(lines) + "\r\n\r\n" + body).encode()


def problem(status: int, kind: str, *headers: str) -> bytes:
    body = f'{{"type":"/problems/{kind}","title":"T","status":{status},"detail":"D.","instance":"/x","requestId":"r1","errors":[{{"parameter":"limit","detail":"bad"}}]}}'
    return response(status, body, "Content-Type: application/problem+json", *headers)
