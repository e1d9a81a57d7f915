"""A connection that asyncio's loop drives, by its descriptor and its next deadline, without a thread."""

import asyncio
import collections

from ._connection import Handle, State, _owned
from ._message import Message
from ._native import ffi, lib
from ._options import nanoseconds
from .errors import BadState, TimedOut, WouldBlock, check, of


class AsyncConnection(Handle):
    """A connection of any of the six schemes, for one loop. Methods are as those of Connection, but for `await`.

    A call that is cancelled leaves nothing behind: a request is withdrawn, and a message that came is kept for the next
    `recv`.
    """

    def __init__(self, url, **options):
        super().__init__(url, options)
        self._event = ffi.new("ic_event *")
        self._event.struct_size = ffi.sizeof("ic_event")
        self._loop = None
        self._watched = (-1, 0)
        self._timer = None
        # What waits for an exchange's answer, by its number.
        self._exchanges = {}
        # Messages that nobody has taken, and whoever waits for one.
        self._messages = collections.deque()
        self._takers = collections.deque()
        # Whoever waits for the connection to be open, for room, and for the end.
        self._openers = set()
        self._writers = set()
        self._closers = set()
        # Parts of a body, None for its end, or why there are no more.
        self._parts = asyncio.Queue()
        self._error = None

    async def __aenter__(self):
        return self

    async def __aexit__(self, kind, error, trace):
        try:
            if kind is None and self.state not in (State.IDLE, State.CLOSED):
                await self.close()
        finally:
            self._unwatch()
            self._release()

    def __aiter__(self):
        return self

    async def __anext__(self):
        try:
            return await self.recv()
        except BadState:
            if self.closed is None:
                raise
            raise StopAsyncIteration from None

    async def connect(self, timeout=None):
        """Opens the connection and waits until it is ready for messages."""
        if self.state in (State.OPEN, State.HTTP_READY):
            return self
        check(lib.ic_begin(self._conn), self._conn)
        await self._wait_in(self._openers, timeout)
        return self

    async def request(self, method="GET", target=None, body=None, headers=None, timeout=None):
        """Sends an HTTP request and receives its response."""
        message = Message.request(method, target, body, () if headers is None else headers)
        return await self.exchange(message, timeout)

    async def exchange(self, message, timeout=None):
        """Sends a message and receives what answers it."""
        exchange = await self.send(message)
        if not exchange:
            return await self.recv(timeout)
        answer = self._future()
        self._exchanges[exchange] = answer
        try:
            self._pump()
            return await _within(answer, timeout)
        finally:
            self._exchanges.pop(exchange, None)
            if answer.cancelled():
                lib.ic_withdraw(self._conn, exchange)
                self._watch()

    async def get(self, target=None, headers=None, timeout=None):
        """Sends a GET request and receives its response."""
        return await self.request("GET", target, None, headers, timeout)

    async def post(self, target=None, body=b"", headers=None, timeout=None):
        """Sends a POST request and receives its response."""
        return await self.request("POST", target, body, headers, timeout)

    async def send(self, data, kind=None):
        """Sends text, bytes or a Message, and waits while there is no room. Returns the number of a request's
        exchange."""
        exchange = ffi.new("uint64_t *")
        while True:
            if isinstance(data, Message):
                code = lib.ic_send(self._conn, data._msg, exchange)
            else:
                code = self._send_bytes(data, kind)
            try:
                check(code, self._conn)
            except WouldBlock:
                await self._wait_in(self._writers, None)
                continue
            self._watch()
            return exchange[0]

    async def ping(self, data=b""):
        """Sends a WebSocket ping."""
        await self.send(data, lib.IC_KIND_PING)

    async def recv(self, timeout=None):
        """Receives the next message."""
        if not self._messages:
            self._pump()
        if self._messages:
            return self._messages.popleft()
        if self._error is not None:
            raise self._error
        taker = self._future()
        self._takers.append(taker)
        try:
            return await _within(taker, timeout)
        except asyncio.CancelledError:
            if taker.done() and not taker.cancelled() and taker.exception() is None:
                # It came together with the cancellation: the next one has it.
                self._messages.appendleft(taker.result())
                self._serve()
            raise
        finally:
            if taker in self._takers:
                self._takers.remove(taker)

    async def parts(self, timeout=None):
        """Yields the parts of a body that comes in parts, each as a memoryview, until its end. The timeout is that of
        each part."""
        while True:
            if self._parts.empty():
                self._pump()
            part = await _within(asyncio.ensure_future(self._parts.get()), timeout)
            if part is None:
                return
            if isinstance(part, Exception):
                raise part
            yield part

    async def close(self, code=1000, reason="", timeout=None):
        """Closes the connection and waits for the end."""
        if self.state == State.CLOSED:
            return
        check(lib.ic_begin_close(self._conn, code, reason.encode()), self._conn)
        await self._wait_in(self._closers, timeout)

    def abort(self):
        """Ends the connection at once, without a word to the peer."""
        super().abort()
        if self._loop is not None:
            self._pump()

    def _future(self):
        if self._loop is None:
            self._loop = asyncio.get_running_loop()
        return self._loop.create_future()

    async def _wait_in(self, waiting, timeout):
        future = self._future()
        waiting.add(future)
        try:
            self._pump()
            await _within(future, timeout)
        finally:
            waiting.discard(future)

    def _pump(self):
        """Lets the library work, and hands out what it tells."""
        if self._conn is None:
            return
        code = lib.ic_process(self._conn)
        while code == 0:
            code = lib.ic_next_event(self._conn, 0, self._event)
            if code or self._event.kind == lib.IC_EVENT_NONE:
                break
            self._hand_out(self._event)
        if code and self._error is None:
            try:
                check(code, self._conn)
            except Exception as error:
                self._fail(error)
        self._watch()

    def _hand_out(self, event):
        kind = event.kind
        if kind == lib.IC_EVENT_MESSAGE:
            message = _owned(event.msg)
            answer = self._exchanges.get(message.exchange)
            if answer is not None and message.kind == lib.IC_KIND_RESPONSE:
                _resolve([answer], message)
            else:
                self._deliver(message)
        elif kind == lib.IC_EVENT_PART:
            self._parts.put_nowait(_owned(event.msg).body)
        elif kind == lib.IC_EVENT_END:
            _owned(event.msg)
            self._parts.put_nowait(None)
        elif kind == lib.IC_EVENT_STATE:
            # Descriptors may have been closed and opened under the same number.
            self._unwatch()
            if event.state in (lib.IC_STATE_OPEN, lib.IC_STATE_HTTP_READY):
                _resolve(self._openers, None)
        elif kind == lib.IC_EVENT_WRITABLE:
            _resolve(self._writers, None)
        elif kind == lib.IC_EVENT_FAILED:
            self._on_failed(event.exchange, of(event.error))
        elif kind == lib.IC_EVENT_CLOSED:
            error = of(event.error) if event.error.code else None
            if error is None:
                _resolve(self._closers, None)
            self._fail(error or BadState("the connection is closed"))

    def _on_failed(self, exchange, error):
        if exchange in self._exchanges:
            _reject([self._exchanges[exchange]], error)
        elif exchange:
            self._parts.put_nowait(error)
        elif self._takers:
            _reject([self._takers.popleft()], error)

    def _deliver(self, message):
        self._messages.append(message)
        self._serve()

    def _serve(self):
        """Gives messages to those who wait for one."""
        while self._messages and self._takers:
            taker = self._takers.popleft()
            if not taker.done():
                taker.set_result(self._messages.popleft())

    def _fail(self, error):
        self._error = error
        self._parts.put_nowait(error)
        for waiting in (self._exchanges.values(), self._takers, self._openers, self._writers, self._closers):
            _reject(list(waiting), error)
        self._takers.clear()

    def _on_ready(self):
        self._pump()

    def _watch(self):
        """Watches what the library wants to know now."""
        if self._loop is None:
            self._loop = asyncio.get_running_loop()
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        if self._error is not None:
            self._unwatch()
            return
        fd, wants = lib.ic_fd(self._conn), lib.ic_wants(self._conn)
        if fd >= 0 and (fd, wants) != self._watched:
            self._unwatch()
            if wants & lib.IC_WANTS_READ:
                self._loop.add_reader(fd, self._on_ready)
            if wants & lib.IC_WANTS_WRITE:
                self._loop.add_writer(fd, self._on_ready)
            self._watched = (fd, wants)
        ns = lib.ic_next_timeout_ns(self._conn)
        if ns >= 0:
            self._timer = self._loop.call_later(ns / 1e9, self._on_ready)

    def _unwatch(self):
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        fd, _ = self._watched
        if fd >= 0 and self._loop is not None and not self._loop.is_closed():
            self._loop.remove_reader(fd)
            self._loop.remove_writer(fd)
        self._watched = (-1, 0)


async def _within(future, timeout):
    """Waits for a future, and cancels it at the deadline, or when its own waiter is cancelled."""
    try:
        await asyncio.wait([future], timeout=None if timeout is None else nanoseconds(timeout) / 1e9)
    finally:
        future.cancel()
    if future.cancelled():
        raise TimedOut("the deadline passed")
    return future.result()


def _resolve(futures, value):
    for future in futures:
        if not future.done():
            future.set_result(value)


def _reject(futures, error):
    for future in futures:
        if not future.done():
            future.set_exception(error)
