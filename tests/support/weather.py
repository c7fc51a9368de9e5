"""Servers as bad networks make them: silent, refusing, answering anything, or cut off after the work is done."""

import socket
import ssl
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from datetime import UTC, datetime, timedelta
from tempfile import NamedTemporaryFile

from cryptography import x509
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat
from cryptography.x509.oid import NameOID


def closed_port() -> int:
    """A port of 127.0.0.1 on which nobody listens."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@contextmanager
def hanging() -> Iterator[int]:
    """Takes connections and requests, and never answers."""
    with socket.create_server(("127.0.0.1", 0), backlog=512) as listener:
        yield int(listener.getsockname()[1])


class Listener:
    """A server of one connection a thread; `port` is that of 127.0.0.1."""

    def __init__(self, handle: Callable[[socket.socket], None], port: int = 0) -> None:
        self._handle = handle
        self._listener = socket.create_server(("127.0.0.1", port), backlog=512)
        self.port = int(self._listener.getsockname()[1])
        self._open: set[socket.socket] = set()
        self._threads: list[threading.Thread] = []
        self._thread = threading.Thread(target=self._accept)
        self._thread.start()

    def close(self) -> None:
        # shutdown wakes the thread in accept(), close alone does not.
        with suppress(OSError):
            self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()
        self._thread.join()
        for connection in tuple(self._open):
            with suppress(OSError):
                connection.shutdown(socket.SHUT_RDWR)
        for thread in self._threads:
            thread.join()

    def _accept(self) -> None:
        while True:
            try:
                connection, _ = self._listener.accept()
            except OSError:
                return
            self._open.add(connection)
            thread = threading.Thread(target=self._serve, args=(connection,))
            self._threads.append(thread)
            thread.start()

    def _serve(self, connection: socket.socket) -> None:
        with connection, suppress(OSError):
            self._handle(connection)
        self._open.discard(connection)


@contextmanager
def answering(answer: Callable[[int], bytes]) -> Iterator[int]:
    """Answers the n-th request (from 1) with the bytes that `answer(n)` gives, then closes the connection."""
    numbers = iter(range(1, 1_000_000))

    def handle(connection: socket.socket) -> None:
        if read_message(connection):
            connection.sendall(answer(next(numbers)))

    listener = Listener(handle)
    try:
        yield listener.port
    finally:
        listener.close()


@contextmanager
def untrusted_tls() -> Iterator[int]:
    """Speaks TLS with a certificate for localhost that it signed itself."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "localhost")])
    now = datetime.now(UTC)
    certificate = (
        x509.CertificateBuilder()
        .issuer_name(name)
        .subject_name(name)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now)
        .not_valid_after(now + timedelta(days=1))
        .add_extension(x509.SubjectAlternativeName([x509.DNSName("localhost")]), critical=False)
        .sign(key, hashes.SHA256())
    )
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    with NamedTemporaryFile() as file:
        file.write(certificate.public_bytes(Encoding.PEM))
        file.write(key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()))
        file.flush()
        context.load_cert_chain(file.name)

    def handle(connection: socket.socket) -> None:
        with context.wrap_socket(connection, server_side=True) as encrypted:
            read_message(encrypted)

    listener = Listener(handle)
    try:
        yield listener.port
    finally:
        listener.close()


def answer(status: str, body: str = "{}", *headers: str) -> bytes:
    lines = [f"HTTP/1.1 {status}", "Content-Type: application/json", f"Content-Length: {len(body)}", *headers]
    return "\r\n".join([*lines, "Connection: close", "", body]).encode("latin-1")


class CuttingProxy:
    """Passes each request on and waits for the answer; when `cuts(request)` is true it closes instead of giving
    the answer back. What was asked for is done then, and nobody knows."""

    def __init__(
        self, target: int, cuts: Callable[[bytes], bool] = lambda request: False, port: int = 0
    ) -> None:
        self._target = target
        self._cuts = cuts
        self._lock = threading.Lock()
        self.passed = 0
        self.cut = 0
        self._listener = Listener(self._handle, port)
        self.port = self._listener.port

    def __enter__(self) -> "CuttingProxy":
        return self

    def __exit__(self, *_: object) -> None:
        self._listener.close()

    def _handle(self, connection: socket.socket) -> None:
        with socket.create_connection(("127.0.0.1", self._target)) as server:
            while request := read_message(connection):
                server.sendall(request)
                given = read_message(server)
                with self._lock:
                    if self._cuts(request):
                        self.cut += 1
                        return
                    self.passed += 1
                connection.sendall(given)


def read_message(connection: socket.socket) -> bytes:
    """One request or answer with its body by Content-Length; empty when the other side closed."""
    data = b""
    while b"\r\n\r\n" not in data:
        chunk = connection.recv(65536)
        if not chunk:
            return b""
        data += chunk
    head, _, body = data.partition(b"\r\n\r\n")
    lengths = [
        line.split(b":")[1] for line in head.split(b"\r\n") if line.lower().startswith(b"content-length:")
    ]
    wanted = int(lengths[0]) if lengths else 0
    while len(body) < wanted:
        chunk = connection.recv(65536)
        if not chunk:
            return b""
        body += chunk
    return head + b"\r\n\r\n" + body
