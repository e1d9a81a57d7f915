"""HTTP bodies and WebSocket messages on a socket, with nothing but the standard library."""

import base64
import hashlib
import os
import struct

LARGEST_JOINED = 65536
MAGIC = b"258EAFA5-E914-47DA-95CA-C5AB0DC85B11"


def send(stream, head, body):
    """One send for a small message; a long one is not copied behind its head."""
    if len(body) <= LARGEST_JOINED:
        stream.sendall(head + body)
    else:
        stream.sendall(head)
        stream.sendall(body)


class Reader:
    """The receiving half of a connection."""

    def __init__(self, stream):
        self.stream = stream
        self.unread = b""

    def read_head(self):
        while (end := self.unread.find(b"\r\n\r\n")) < 0:
            self.unread += self._receive(65536)
        head, self.unread = self.unread[: end + 4], self.unread[end + 4 :]
        return head

    def read_body(self, start):
        head = self.read_head()
        if not head.startswith(start):
            raise ValueError(f"{head[:40]!r} does not begin with {start!r}")
        return self.read(int(field(head, b"content-length")))

    def read(self, size):
        if len(self.unread) >= size:
            wanted, self.unread = self.unread[:size], self.unread[size:]
            return wanted
        body = bytearray(size)
        at = len(self.unread)
        body[:at], self.unread = self.unread, b""
        view = memoryview(body)
        while at < size:
            received = self.stream.recv_into(view[at:])
            if not received:
                raise EOFError("the peer closed")
            at += received
        return body

    def read_message(self):
        message = b""
        while True:
            if len(self.unread) < 2:
                self.unread += self._receive(65536)
                continue
            first, second = self.read(2)
            length = second & 0x7F
            if length >= 126:
                length = int.from_bytes(self.read(2 if length == 126 else 8), "big")
            key = self.read(4) if second & 0x80 else None
            if first & 0x0F == 8:
                raise EOFError("the peer closed")
            payload = self.read(length)
            if key is not None:
                payload = masked_with(key, payload)
            message = message + payload if message else payload
            if first & 0x80:
                return message

    def _receive(self, most):
        received = self.stream.recv(most)
        if not received:
            raise EOFError("the peer closed")
        return received


def send_frame(stream, message, masked):
    length, flag = len(message), 0x80 if masked else 0
    if length < 126:
        head = bytes((0x82, flag | length))
    elif length < 65536:
        head = struct.pack("!BBH", 0x82, flag | 126, length)
    else:
        head = struct.pack("!BBQ", 0x82, flag | 127, length)
    if masked:
        key = os.urandom(4)
        head, message = head + key, masked_with(key, message)
    send(stream, head, message)


def masked_with(key, payload):
    """Masking as one number: nothing in the standard library is faster."""
    size = len(payload)
    keys = (bytes(key) * (size // 4 + 1))[:size]
    return (int.from_bytes(payload, "little") ^ int.from_bytes(keys, "little")).to_bytes(size, "little")


def ask(stream, reader):
    key = base64.b64encode(os.urandom(16))
    stream.sendall(
        b"GET /echo HTTP/1.1\r\nHost: localhost\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
        b"Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: " + key + b"\r\n\r\n"
    )
    if field(reader.read_head(), b"sec-websocket-accept") != accept_value(key):
        raise ValueError("the peer accepted another key")


def grant(stream, reader):
    accept = accept_value(field(reader.read_head(), b"sec-websocket-key"))
    stream.sendall(
        b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
        b"Sec-WebSocket-Accept: " + accept + b"\r\n\r\n"
    )


def accept_value(key):
    return base64.b64encode(hashlib.sha1(key + MAGIC).digest())


def field(head, name):
    for line in head.split(b"\r\n")[1:]:
        found, _, value = line.partition(b":")
        if found.lower() == name:
            return value.strip()
    raise ValueError(f"no {name.decode()} in the head")
