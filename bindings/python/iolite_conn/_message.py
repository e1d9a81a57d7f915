"""Messages: what all six schemes send and receive."""

import collections
import enum
import json as _json

from ._native import ffi, lib
from .errors import check


class Kind(enum.IntEnum):
    """The kinds of message."""

    REQUEST = lib.IC_KIND_REQUEST
    RESPONSE = lib.IC_KIND_RESPONSE
    INFORMATIONAL = lib.IC_KIND_INFORMATIONAL
    TEXT = lib.IC_KIND_TEXT
    BINARY = lib.IC_KIND_BINARY
    PING = lib.IC_KIND_PING
    PONG = lib.IC_KIND_PONG
    CLOSE = lib.IC_KIND_CLOSE
    DATAGRAM = lib.IC_KIND_DATAGRAM


class Flags(enum.IntFlag):
    """What else is to be known about a message."""

    TRUNCATED = lib.IC_FLAG_TRUNCATED
    FIN = lib.IC_FLAG_FIN
    COMPRESSED = lib.IC_FLAG_COMPRESSED
    FROM_RETRY = lib.IC_FLAG_FROM_RETRY
    BODY_BY_CLOSE = lib.IC_FLAG_BODY_BY_CLOSE
    REDIRECTED = lib.IC_FLAG_REDIRECTED
    STREAMED = lib.IC_FLAG_STREAMED
    ANSWER_IN_PARTS = lib.IC_FLAG_ANSWER_IN_PARTS


class Headers(collections.abc.Mapping):
    """Fields of a header or trailer, in order. Names are found in any case of letters; a name that is there several
    times has its first value, and `all` returns each. Values are text, each byte a character (ISO 8859-1)."""

    __slots__ = ("_fields",)

    def __init__(self, fields=()):
        self._fields = tuple(fields)

    def __getitem__(self, name):
        wanted = name.lower()
        for known, value in self._fields:
            if known.lower() == wanted:
                return value
        raise KeyError(name)

    def __iter__(self):
        return iter(dict.fromkeys(name for name, _ in self._fields))

    def __len__(self):
        return len({name.lower() for name, _ in self._fields})

    def all(self, name):
        """Returns the values of all fields of a name."""
        wanted = name.lower()
        return [value for known, value in self._fields if known.lower() == wanted]

    @property
    def fields(self):
        """All names and values, in order."""
        return self._fields

    def __repr__(self):
        return f"Headers({self._fields!r})"


class Message:
    """A message. Those that came are read; those to send are made by `request`, `text_message`, `binary`, `datagram` and
    `ping`, and can be sent again and again."""

    __slots__ = ("_headers", "_len", "_msg", "_ptr", "kind", "status")

    def __init__(self, msg, kind, status, ptr, length):
        self._msg = msg
        self._ptr = ptr
        self._len = length
        self.kind = kind
        self.status = status

    @classmethod
    def _made(cls, make, body, headers):
        out = ffi.new("ic_msg **")
        check(make(out))
        msg = ffi.gc(out[0], lib.ic_msg_free)
        for name, value in _pairs(headers):
            value = value if isinstance(value, bytes) else str(value).encode("latin-1")
            check(lib.ic_msg_add_header(msg, name.encode(), value, len(value)))
        if body is not None:
            _set_body(msg, body)
        slice_ = lib.ic_msg_body(msg)
        return cls(msg, lib.ic_msg_kind(msg), 0, slice_.ptr, slice_.len)

    @classmethod
    def request(cls, method="GET", target=None, body=None, headers=(), *, in_parts=False, answer_in_parts=False):
        """Makes an HTTP request. Without a target it is the URL's. The body of one `in_parts` is sent by `send_part` and
        `finish_body`; the body of an answer in parts is received by `parts`."""
        target = ffi.NULL if target is None else target.encode()
        message = cls._made(lambda out: lib.ic_msg_new_request(method.encode(), target, out), body, headers)
        flags = Flags.STREAMED * in_parts | Flags.ANSWER_IN_PARTS * answer_in_parts
        check(lib.ic_msg_set_flags(message._msg, flags))
        return message

    @classmethod
    def text_message(cls, text):
        """Makes a WebSocket text message."""
        return cls._made(lambda out: lib.ic_msg_new(lib.IC_KIND_TEXT, out), text.encode(), ())

    @classmethod
    def binary(cls, body):
        """Makes a WebSocket binary message."""
        return cls._made(lambda out: lib.ic_msg_new(lib.IC_KIND_BINARY, out), body, ())

    @classmethod
    def ping(cls, body=b""):
        """Makes a WebSocket ping of at most 125 bytes."""
        return cls._made(lambda out: lib.ic_msg_new(lib.IC_KIND_PING, out), body, ())

    @classmethod
    def datagram(cls, body, interface=0):
        """Makes a datagram, for a multicast group to leave by the network interface of that index."""
        message = cls._made(lambda out: lib.ic_msg_new(lib.IC_KIND_DATAGRAM, out), body, ())
        check(lib.ic_msg_set_interface(message._msg, interface))
        return message

    @property
    def body(self):
        """The content, as a memoryview that is not a copy and keeps the message."""
        if self._len == 0:
            return memoryview(b"")
        # The pointer keeps the message, and the buffer keeps the pointer.
        keeper = self._msg
        owned = ffi.gc(self._ptr, lambda _, keeper=keeper: None)
        return memoryview(ffi.buffer(owned, self._len)).toreadonly()

    def __bytes__(self):
        return ffi.unpack(ffi.cast("char *", self._ptr), self._len) if self._len else b""

    def __len__(self):
        return self._len

    def __bool__(self):
        return True

    @property
    def text(self):
        """The content as text: UTF-8."""
        return bytes(self).decode()

    def json(self):
        """The content, read as JSON."""
        return _json.loads(bytes(self))

    @property
    def ok(self):
        """Whether a response's status is below 400."""
        return 0 < self.status < 400

    @property
    def headers(self):
        """The header fields."""
        try:
            return self._headers
        except AttributeError:
            self._headers = _fields(self._msg, lib.ic_msg_header_count, lib.ic_msg_header_at)
            return self._headers

    @property
    def trailers(self):
        """The fields behind a chunked body."""
        return _fields(self._msg, lib.ic_msg_trailer_count, lib.ic_msg_trailer_at)

    @property
    def method(self):
        """A request's method."""
        return _text(lib.ic_msg_method(self._msg)) if self.kind == Kind.REQUEST else ""

    @property
    def target(self):
        """A request's path and query."""
        return _text(lib.ic_msg_target(self._msg))

    @property
    def flags(self):
        """What else is to be known about it."""
        return Flags(lib.ic_msg_flags(self._msg))

    @property
    def exchange(self):
        """The number of the exchange that a response answers; 0 for others."""
        return lib.ic_msg_exchange(self._msg)

    @property
    def interface(self):
        """The index of the network interface by which a datagram came; 0 where it is not known."""
        return lib.ic_msg_interface(self._msg)

    @property
    def received(self):
        """When it was complete, in seconds since its connection was made; None for a message of one's own."""
        ns = lib.ic_msg_received_ns(self._msg)
        return None if ns < 0 else ns / 1e9

    @property
    def peer(self):
        """The other side's address, such as 192.0.2.7:80; None where it is not known."""
        return _address(self._msg, lib.ic_msg_peer_text)

    @property
    def local(self):
        """Our address; for a datagram the one that it was sent to."""
        return _address(self._msg, lib.ic_msg_local_text)

    def __repr__(self):
        status = f" {self.status}" if self.status else ""
        return f"<Message {Kind(self.kind).name}{status}, {self._len} bytes>"


# Bodies from this length on are referred to, and shorter ones copied.
LONG = 16 << 10

# Buffers that the library may still read, with what tells when it does not any more.
_held = []


def hold(buffer):
    """Keeps a buffer until the library has released it; returns what is to be told of that."""
    if _held:
        _held[:] = [(hold, kept) for hold, kept in _held if not _is_released(hold)]
    holding = lib.icpy_hold_new()
    if holding == ffi.NULL:
        raise MemoryError
    _held.append((holding, buffer))
    return holding


def _is_released(holding):
    released = lib.icpy_hold_released(holding)
    if released:
        lib.icpy_hold_free(holding)
    return released


def _set_body(msg, body):
    body = body.encode() if isinstance(body, str) else body
    buffer = ffi.from_buffer("uint8_t[]", body)
    holding = hold(buffer) if len(buffer) >= LONG else ffi.NULL
    check(lib.icpy_set_body(msg, buffer, len(buffer), holding))


def _pairs(headers):
    return headers.items() if hasattr(headers, "items") else headers


def _fields(msg, count, at):
    name, value = ffi.new("ic_slice *"), ffi.new("ic_slice *")
    fields = []
    for place in range(count(msg)):
        if at(msg, place, name, value):
            fields.append((_text(name), _text(value)))
    return Headers(fields)


def _text(slice_):
    return ffi.unpack(ffi.cast("char *", slice_.ptr), slice_.len).decode("latin-1") if slice_.len else ""


def _address(msg, tell):
    text, length = ffi.new("char[64]"), ffi.new("size_t *")
    found = tell(msg, text, 64, length)
    check(found)
    return ffi.unpack(text, length[0]).decode() if found == 0 else None
