"""A connection that is driven by the calls of its owner."""

import enum
import time

from ._message import LONG, Kind, Message, hold
from ._native import ffi, lib
from ._options import Options, nanoseconds
from .errors import BadState, Phase, TimedOut, check, last, of

check(lib.ic_check_abi(lib.IC_ABI_VERSION))


def version():
    """Returns the library's name and version."""
    return ffi.string(lib.ic_version_string()).decode()


class State(enum.IntEnum):
    """The states of a connection."""

    IDLE = lib.IC_STATE_IDLE
    RESOLVING = lib.IC_STATE_RESOLVING
    CONNECTING = lib.IC_STATE_CONNECTING
    PROXY_TUNNEL = lib.IC_STATE_PROXY_TUNNEL
    TLS_HANDSHAKE = lib.IC_STATE_TLS_HANDSHAKE
    HTTP_READY = lib.IC_STATE_HTTP_READY
    WS_UPGRADING = lib.IC_STATE_WS_UPGRADING
    OPEN = lib.IC_STATE_OPEN
    WAITING = lib.IC_STATE_WAITING
    CLOSING = lib.IC_STATE_CLOSING
    CLOSED = lib.IC_STATE_CLOSED


# How long the library may wait at a time before Python looks for signals.
_SLICE = 100_000_000

# What is used once for each message, looked up once.
_request, _recv, _gc, _free, _null = lib.icpy_request, lib.icpy_recv, ffi.gc, lib.ic_msg_free, ffi.NULL


class Handle:
    """What both kinds of connection have in common."""

    def __init__(self, url, options):
        chosen = Options(options)
        out = ffi.new("ic_conn **")
        check(lib.ic_open(url.encode(), chosen.pointer, out, ffi.NULL))
        self._callbacks = chosen.kept
        self._conn = ffi.gc(out[0], lib.ic_free)
        self._answer = ffi.new("icpy_answer *")
        scheme = url.partition(":")[0].lower()
        self._binary = lib.IC_KIND_DATAGRAM if scheme.startswith("udp") else lib.IC_KIND_BINARY

    @property
    def state(self):
        """The state."""
        return State(lib.ic_state(self._conn))

    @property
    def rtt(self):
        """How long the last ping of a WebSocket took to be answered, in seconds; None where none was."""
        ns = lib.ic_rtt_ns(self._conn)
        return None if ns < 0 else ns / 1e9

    @property
    def dropped_datagrams(self):
        """How many datagrams were dropped because the application did not take them."""
        return lib.ic_dropped_datagrams(self._conn)

    @property
    def closed(self):
        """The WebSocket close code and the reason, once the connection has ended."""
        code, reason = ffi.new("int32_t *"), ffi.new("ic_msg **")
        if not lib.ic_closed(self._conn, code, reason):
            return None
        words = _owned(reason[0])
        return code[0], words.text

    def abort(self):
        """Ends the connection at once, without a word to the peer."""
        check(lib.ic_abort(self._conn), self._conn)

    def wake(self):
        """Has the call that waits return as if its deadline had come. From any thread; needs the option `wakeable`."""
        check(lib.ic_wake(self._conn))

    def cancel(self):
        """Has the call that waits raise Cancelled. From any thread; needs the option `wakeable`."""
        check(lib.ic_cancel(self._conn))

    def _release(self):
        ffi.release(self._conn)

    def _send_bytes(self, data, kind):
        if isinstance(data, str):
            data, kind = data.encode(), lib.IC_KIND_TEXT if kind is None else kind
        kind = self._binary if kind is None else kind
        if len(data) < LONG:
            buffer = data if isinstance(data, bytes) else ffi.from_buffer("uint8_t[]", data)
            return lib.ic_send_bytes(self._conn, kind, buffer, len(buffer))
        message = Message._made(lambda out: lib.ic_msg_new(kind, out), data, ())
        return lib.ic_send(self._conn, message._msg, ffi.NULL)


class Connection(Handle):
    """A connection of any of the six schemes. Nothing is opened before `connect` or the first message.

    Timeouts are in seconds; None is the connection's own, 0 is not to wait. Keywords of the constructor are options.
    """

    def __init__(self, url, **options):
        super().__init__(url, options)
        # What a call that receives waits at a time; the library knows what less than nothing means.
        self._patience = -1 if options.get("receive_mode") in ("poll", lib.IC_RECEIVE_POLL) else _SLICE

    def __enter__(self):
        return self

    def __exit__(self, kind, error, trace):
        try:
            if kind is None and self.state not in (State.IDLE, State.CLOSED):
                self.close()
        finally:
            self._release()

    def __iter__(self):
        """Yields messages until the connection is closed in good order."""
        while True:
            try:
                message = self.recv()
            except BadState:
                if self.closed is None:
                    raise
                return
            yield message

    def connect(self, timeout=None):
        """Opens the connection and waits until it is ready for messages."""
        for slice_ in _slices(timeout):
            code = lib.ic_connect(self._conn, slice_)
            if code != lib.IC_E_TIMED_OUT:
                break
        check(code, self._conn)
        return self

    def request(self, method="GET", target=None, body=None, headers=None, timeout=None):
        """Sends an HTTP request and receives its response."""
        answer = self._answer
        wait = _SLICE if timeout is None else min(_SLICE, nanoseconds(timeout))
        if headers is None:
            if body is None:
                buffer, length, holding = _null, 0, _null
            else:
                body = body.encode() if isinstance(body, str) else body
                length = len(body)
                if length < LONG and isinstance(body, bytes):
                    buffer, holding = body, _null
                else:
                    buffer = ffi.from_buffer("uint8_t[]", body)
                    length = len(buffer)
                    holding = hold(buffer) if length >= LONG else _null
            code = _request(
                self._conn,
                method.encode(),
                _null if target is None else target.encode(),
                buffer,
                length,
                holding,
                wait,
                answer,
            )
        else:
            message = Message.request(method, target, body, headers)
            code = lib.icpy_exchange(self._conn, message._msg, wait, answer)
        if code:
            self._wait_on(code, timeout, wait)
        msg = _gc(answer.msg, _free)
        return Message(msg, answer.kind, answer.status, answer.body, answer.len)

    def exchange(self, message, timeout=None):
        """Sends a message and receives what answers it: a request's response, or the next WebSocket message or
        datagram."""
        wait = _SLICE if timeout is None else min(_SLICE, nanoseconds(timeout))
        code = lib.icpy_exchange(self._conn, message._msg, wait, self._answer)
        if code:
            self._wait_on(code, timeout, wait)
        return self._take()

    def get(self, target=None, headers=None, timeout=None):
        """Sends a GET request and receives its response."""
        return self.request("GET", target, None, headers, timeout)

    def post(self, target=None, body=b"", headers=None, timeout=None):
        """Sends a POST request and receives its response."""
        return self.request("POST", target, body, headers, timeout)

    def request_into(self, buffer, method="GET", target=None, body=b"", timeout=None):
        """Sends an HTTP request and copies the body of its response to a writable buffer; returns its status and how
        long it is. What does not fit raises TooSmall, and is kept for `recv`."""
        room = ffi.from_buffer("uint8_t[]", buffer, require_writable=True)
        length = ffi.new("size_t *")
        info = ffi.new("ic_info *", {"struct_size": ffi.sizeof("ic_info")})
        sent = ffi.from_buffer("uint8_t[]", body)
        code = lib.ic_request_into(
            self._conn,
            method.encode(),
            ffi.NULL if target is None else target.encode(),
            sent,
            len(sent),
            room,
            len(room),
            length,
            info,
            nanoseconds(timeout),
        )
        check(code, self._conn)
        return info.status, length[0]

    def send(self, data, kind=None):
        """Sends text, or bytes of any kind of buffer, as a WebSocket message or datagram; or a Message. Returns the
        number of a request's exchange, for `answer`."""
        if isinstance(data, Message):
            exchange = ffi.new("uint64_t *")
            check(lib.ic_send(self._conn, data._msg, exchange), self._conn)
            return exchange[0]
        code = self._send_bytes(data, kind)
        if code:
            raise last(self._conn, code)
        return 0

    def ping(self, data=b""):
        """Sends a WebSocket ping."""
        check(self._send_bytes(data, lib.IC_KIND_PING), self._conn)

    def recv(self, timeout=None):
        """Receives the next message."""
        answer = self._answer
        wait = self._patience if timeout is None else min(_SLICE, nanoseconds(timeout))
        code = _recv(self._conn, wait, answer)
        if code:
            self._go_on(code, timeout, wait, lambda slice_: _recv(self._conn, slice_, answer))
        msg = _gc(answer.msg, _free)
        return Message(msg, answer.kind, answer.status, answer.body, answer.len)

    def recv_into(self, buffer, timeout=None):
        """Receives the next message and copies its body to a writable buffer; returns how long it is. What does not fit
        raises TooSmall, and is kept for the next call."""
        room = ffi.from_buffer("uint8_t[]", buffer, require_writable=True)
        length = ffi.new("size_t *")
        for slice_ in _slices(timeout, self._patience):
            code = lib.ic_recv_into(self._conn, room, len(room), length, ffi.NULL, slice_)
            if code != lib.IC_E_TIMED_OUT:
                break
        check(code, self._conn)
        return length[0]

    def answer(self, exchange, timeout=None):
        """Receives the response of an exchange that `send` began; it can be waited for again after a TimedOut."""
        for slice_ in _slices(timeout, self._patience):
            code = lib.icpy_answer_to(self._conn, exchange, slice_, self._answer)
            if code != lib.IC_E_TIMED_OUT:
                break
        check(code, self._conn)
        return self._take()

    def send_part(self, data, timeout=None):
        """Sends a part of the body of a request in parts; waits while the peer does not keep up."""
        buffer = ffi.from_buffer("uint8_t[]", data)
        for slice_ in _slices(timeout):
            code = lib.ic_send_part(self._conn, buffer, len(buffer), slice_)
            if code != lib.IC_E_TIMED_OUT:
                break
        check(code, self._conn)

    def finish_body(self, trailers=(), timeout=None):
        """Ends the body of a request in parts."""
        fields = Message.request(headers=trailers)
        check(lib.ic_finish_body(self._conn, fields._msg, nanoseconds(timeout)), self._conn)

    def parts(self, timeout=None):
        """Yields the parts of a body that comes in parts, each as a memoryview, until its end. The timeout is that of
        each part."""
        event = ffi.new("ic_event *", {"struct_size": ffi.sizeof("ic_event")})
        while True:
            for slice_ in _slices(timeout):
                check(lib.ic_next_event(self._conn, slice_, event), self._conn)
                if event.kind != lib.IC_EVENT_NONE:
                    break
            else:
                raise TimedOut("the deadline passed", phase=Phase.RECEIVE)
            if event.msg != _null:
                message = _owned(event.msg)
            if event.kind == lib.IC_EVENT_PART:
                yield message.body
            elif event.kind == lib.IC_EVENT_END:
                return
            elif event.kind in (lib.IC_EVENT_FAILED, lib.IC_EVENT_CLOSED):
                raise of(event.error) if event.error.code else BadState("the connection is closed")

    def withdraw(self, exchange):
        """Withdraws an exchange that `send` began."""
        check(lib.ic_withdraw(self._conn, exchange), self._conn)

    def close(self, code=1000, reason="", timeout=None):
        """Closes the connection and waits for the end."""
        check(lib.ic_close(self._conn, code, reason.encode(), nanoseconds(timeout)), self._conn)

    def fileno(self):
        """Returns the descriptor to watch in an event loop of one's own. See `wants`, `next_timeout`, `process`."""
        fd = lib.ic_fd(self._conn)
        check(fd, self._conn)
        return fd

    @property
    def wants(self):
        """Whether `fileno` is to be watched for reading, and whether for writing."""
        wants = lib.ic_wants(self._conn)
        check(wants, self._conn)
        return bool(wants & lib.IC_WANTS_READ), bool(wants & lib.IC_WANTS_WRITE)

    @property
    def next_timeout(self):
        """After how many seconds `process` is due even if nothing happens; None for never."""
        ns = lib.ic_next_timeout_ns(self._conn)
        return None if ns < 0 else ns / 1e9

    def process(self):
        """Does what can be done without waiting. Messages are taken by `recv` with a timeout of 0."""
        check(lib.ic_process(self._conn), self._conn)

    def _take(self):
        return _owned_answer(self._answer)

    def _wait_on(self, code, timeout, waited):
        """Goes on waiting for an exchange's answer, and withdraws it at the deadline."""
        exchange = self._answer.exchange

        def again(slice_):
            return lib.icpy_answer_to(self._conn, exchange, slice_, self._answer)

        try:
            self._go_on(code, timeout, waited, again)
        except (TimedOut, KeyboardInterrupt):
            lib.ic_withdraw(self._conn, exchange)
            raise

    def _go_on(self, code, timeout, waited, again):
        """Goes on after a slice of a wait, unless the wait is over or something else happened."""
        total = None if timeout is None else nanoseconds(timeout) - waited
        end = None if total is None else time.monotonic_ns() + total
        while code == lib.IC_E_TIMED_OUT:
            left = None if end is None else end - time.monotonic_ns()
            if left is not None and left <= 0:
                break
            code = again(_SLICE if left is None else min(_SLICE, left))
        if code:
            raise last(self._conn, code)


def _slices(timeout, patience=_SLICE):
    """Divides a wait, so that Python can take care of signals in between."""
    if timeout is None:
        while True:
            yield patience
    end = time.monotonic_ns() + nanoseconds(timeout)
    left = nanoseconds(timeout)
    while True:
        yield min(_SLICE, max(left, 0))
        left = end - time.monotonic_ns()
        if left <= 0:
            return


def _owned_answer(answer):
    return Message(_gc(answer.msg, _free), answer.kind, answer.status, answer.body, answer.len)


def _owned(msg):
    """Makes a Message of one that the library handed out."""
    msg = ffi.gc(msg, lib.ic_msg_free)
    body = lib.ic_msg_body(msg)
    return Message(msg, lib.ic_msg_kind(msg), lib.ic_msg_status(msg), body.ptr, body.len)
