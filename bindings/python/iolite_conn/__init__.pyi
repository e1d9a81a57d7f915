"""Types of `iolite_conn`; a test compares the options with the library's."""

import enum
from collections.abc import AsyncIterator, Callable, Iterable, Iterator, Mapping, Sequence
from types import TracebackType
from typing import Any, Protocol, TypeAlias, TypedDict, Unpack

from . import errors as errors
from .errors import Error as Error
from .errors import Phase as Phase

__all__ = [
    "AsyncConnection",
    "Connection",
    "Error",
    "Flags",
    "Headers",
    "Kind",
    "Message",
    "Phase",
    "State",
    "errors",
    "version",
]

class _Buffer(Protocol):
    def __buffer__(self, flags: int, /) -> memoryview: ...

_Bytes: TypeAlias = bytes | bytearray | memoryview | _Buffer
_Body: TypeAlias = str | _Bytes
_Fields: TypeAlias = Mapping[str, str | bytes] | Iterable[tuple[str, str | bytes]]
_Callback: TypeAlias = Callable[[int, str], object]

class Options(TypedDict, total=False):
    threads: int
    keep_alive: bool
    receive_mode: str | int
    spin: float
    wakeable: bool
    max_waiting: int
    max_events: int
    state_callback: _Callback
    resolve_timeout: float
    connect_timeout: float
    stagger: float
    tls_timeout: float
    proxy_timeout: float
    upgrade_timeout: float
    send_timeout: float
    first_byte_timeout: float
    between_bytes_timeout: float
    total_timeout: float | None
    close_timeout: float
    continue_timeout: float
    ca_file: str | Sequence[str]
    ca_pem: bytes | Sequence[bytes]
    client_cert_pem: bytes
    client_key_pem: bytes
    pin_sha256: bytes | Sequence[bytes]
    pin_only: bool
    server_name: str
    insecure_skip_verify: bool
    key_log_callback: _Callback
    header: str | Sequence[str]
    user_agent: str
    proxy: str
    proxy_except: str | Sequence[str]
    max_redirects: int
    allow_downgrade: bool
    decode: bool
    stream_responses: bool
    continue_from: int | None
    max_body: int
    max_header_bytes: int
    pipelined: int
    idle_limit: float
    max_age: float | None
    max_exchanges: int
    subprotocol: str | Sequence[str]
    origin: str
    deflate: int
    deflate_threshold: int
    ping_interval: float | None
    pong_timeout: float
    auto_pong: bool
    deliver_control: bool
    max_message: int
    max_frame: int
    high_water: int
    fragment_above: int | None
    reconnect: bool
    reconnect_base: float
    reconnect_cap: float
    reconnect_max_attempts: int | None
    interface: str | Sequence[str]
    ttl: int
    loopback: bool
    bind: str
    receive_buffer: int
    send_buffer: int
    traffic_class: int
    dont_fragment: bool
    reuse_address: bool
    reuse_port: bool
    device: str

class Kind(enum.IntEnum):
    REQUEST = 1
    RESPONSE = 2
    INFORMATIONAL = 3
    TEXT = 4
    BINARY = 5
    PING = 6
    PONG = 7
    CLOSE = 8
    DATAGRAM = 9

class State(enum.IntEnum):
    IDLE = 0
    RESOLVING = 1
    CONNECTING = 2
    PROXY_TUNNEL = 3
    TLS_HANDSHAKE = 4
    HTTP_READY = 5
    WS_UPGRADING = 6
    OPEN = 7
    WAITING = 8
    CLOSING = 9
    CLOSED = 10

class Flags(enum.IntFlag):
    TRUNCATED = 1
    FIN = 2
    COMPRESSED = 4
    FROM_RETRY = 8
    BODY_BY_CLOSE = 16
    REDIRECTED = 32
    STREAMED = 64
    ANSWER_IN_PARTS = 128

class Headers(Mapping[str, str]):
    def __init__(self, fields: Iterable[tuple[str, str]] = ()) -> None: ...
    def __getitem__(self, name: str) -> str: ...
    def __iter__(self) -> Iterator[str]: ...
    def __len__(self) -> int: ...
    def all(self, name: str) -> list[str]: ...
    @property
    def fields(self) -> tuple[tuple[str, str], ...]: ...

class Message:
    kind: int
    status: int
    @classmethod
    def request(
        cls,
        method: str = "GET",
        target: str | None = None,
        body: _Body | None = None,
        headers: _Fields = (),
        *,
        in_parts: bool = False,
        answer_in_parts: bool = False,
    ) -> Message: ...
    @classmethod
    def text_message(cls, text: str) -> Message: ...
    @classmethod
    def binary(cls, body: _Bytes) -> Message: ...
    @classmethod
    def ping(cls, body: _Bytes = b"") -> Message: ...
    @classmethod
    def datagram(cls, body: _Bytes, interface: int = 0) -> Message: ...
    @property
    def body(self) -> memoryview: ...
    def __bytes__(self) -> bytes: ...
    def __len__(self) -> int: ...
    @property
    def text(self) -> str: ...
    def json(self) -> Any: ...
    @property
    def ok(self) -> bool: ...
    @property
    def headers(self) -> Headers: ...
    @property
    def trailers(self) -> Headers: ...
    @property
    def method(self) -> str: ...
    @property
    def target(self) -> str: ...
    @property
    def flags(self) -> Flags: ...
    @property
    def exchange(self) -> int: ...
    @property
    def interface(self) -> int: ...
    @property
    def received(self) -> float | None: ...
    @property
    def peer(self) -> str | None: ...
    @property
    def local(self) -> str | None: ...

class _Handle:
    @property
    def state(self) -> State: ...
    @property
    def rtt(self) -> float | None: ...
    @property
    def dropped_datagrams(self) -> int: ...
    @property
    def closed(self) -> tuple[int, str] | None: ...
    def abort(self) -> None: ...
    def wake(self) -> None: ...
    def cancel(self) -> None: ...

class Connection(_Handle):
    def __init__(self, url: str, **options: Unpack[Options]) -> None: ...
    def __enter__(self) -> Connection: ...
    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None: ...
    def __iter__(self) -> Iterator[Message]: ...
    def connect(self, timeout: float | None = None) -> Connection: ...
    def request(
        self,
        method: str = "GET",
        target: str | None = None,
        body: _Body | None = None,
        headers: _Fields | None = None,
        timeout: float | None = None,
    ) -> Message: ...
    def exchange(self, message: Message, timeout: float | None = None) -> Message: ...
    def get(
        self, target: str | None = None, headers: _Fields | None = None, timeout: float | None = None
    ) -> Message: ...
    def post(
        self,
        target: str | None = None,
        body: _Body = b"",
        headers: _Fields | None = None,
        timeout: float | None = None,
    ) -> Message: ...
    def request_into(
        self,
        buffer: bytearray | memoryview | _Buffer,
        method: str = "GET",
        target: str | None = None,
        body: _Bytes = b"",
        timeout: float | None = None,
    ) -> tuple[int, int]: ...
    def send(self, data: _Body | Message, kind: Kind | None = None) -> int: ...
    def ping(self, data: _Bytes = b"") -> None: ...
    def recv(self, timeout: float | None = None) -> Message: ...
    def recv_into(self, buffer: bytearray | memoryview | _Buffer, timeout: float | None = None) -> int: ...
    def answer(self, exchange: int, timeout: float | None = None) -> Message: ...
    def send_part(self, data: _Bytes, timeout: float | None = None) -> None: ...
    def finish_body(self, trailers: _Fields = (), timeout: float | None = None) -> None: ...
    def parts(self, timeout: float | None = None) -> Iterator[memoryview]: ...
    def withdraw(self, exchange: int) -> None: ...
    def close(self, code: int = 1000, reason: str = "", timeout: float | None = None) -> None: ...
    def fileno(self) -> int: ...
    @property
    def wants(self) -> tuple[bool, bool]: ...
    @property
    def next_timeout(self) -> float | None: ...
    def process(self) -> None: ...

class AsyncConnection(_Handle):
    def __init__(self, url: str, **options: Unpack[Options]) -> None: ...
    async def __aenter__(self) -> AsyncConnection: ...
    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None: ...
    def __aiter__(self) -> AsyncIterator[Message]: ...
    async def __anext__(self) -> Message: ...
    async def connect(self, timeout: float | None = None) -> AsyncConnection: ...
    async def request(
        self,
        method: str = "GET",
        target: str | None = None,
        body: _Body | None = None,
        headers: _Fields | None = None,
        timeout: float | None = None,
    ) -> Message: ...
    async def exchange(self, message: Message, timeout: float | None = None) -> Message: ...
    async def get(
        self, target: str | None = None, headers: _Fields | None = None, timeout: float | None = None
    ) -> Message: ...
    async def post(
        self,
        target: str | None = None,
        body: _Body = b"",
        headers: _Fields | None = None,
        timeout: float | None = None,
    ) -> Message: ...
    async def send(self, data: _Body | Message, kind: Kind | None = None) -> int: ...
    async def ping(self, data: _Bytes = b"") -> None: ...
    async def recv(self, timeout: float | None = None) -> Message: ...
    def parts(self, timeout: float | None = None) -> AsyncIterator[memoryview]: ...
    async def close(self, code: int = 1000, reason: str = "", timeout: float | None = None) -> None: ...

def version() -> str: ...
