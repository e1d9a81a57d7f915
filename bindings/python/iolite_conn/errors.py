"""What can go wrong: a class for each code of the library, below one for each of its parts.

Each error has `code`, `phase`, `os_errno`, `tls_alert` and `http_status`; what there is none of is None. Errors of a time
that was over are TimeoutError, too, and those of connecting ConnectionError, so that code which knows nothing of this
library can handle them.
"""

import enum

from ._native import ffi, lib


class Phase(enum.IntEnum):
    """While doing what something went wrong."""

    NONE = lib.IC_PHASE_NONE
    ARGUMENTS = lib.IC_PHASE_ARGUMENTS
    RESOLVE = lib.IC_PHASE_RESOLVE
    CONNECT = lib.IC_PHASE_CONNECT
    PROXY = lib.IC_PHASE_PROXY
    TLS = lib.IC_PHASE_TLS
    UPGRADE = lib.IC_PHASE_UPGRADE
    SEND = lib.IC_PHASE_SEND
    FIRST_BYTE = lib.IC_PHASE_FIRST_BYTE
    RECEIVE = lib.IC_PHASE_RECEIVE
    IDLE = lib.IC_PHASE_IDLE
    CLOSE = lib.IC_PHASE_CLOSE


class Error(Exception):
    """Anything that went wrong."""

    code = 0

    def __init__(self, text="", *, phase=Phase.NONE, os_errno=None, tls_alert=None, http_status=None):
        super().__init__(text)
        self.phase = phase
        self.os_errno = os_errno
        self.tls_alert = tls_alert
        self.http_status = http_status

    @property
    def is_transient(self):
        """Whether trying again later may help."""
        return bool(lib.ic_is_transient(self.code))


class UsageError(Error):
    """What was asked for cannot be done."""


class ConnectError(Error, ConnectionError):
    """There is no connection, or not any more."""


class ProxyError(ConnectError):
    """The proxy is in the way."""


class TlsError(ConnectError):
    """TLS did not come about, or broke."""


class CertificateError(TlsError):
    """The certificate is not good enough."""


class HttpError(Error):
    """The exchange failed. A response with a status of 400 and more is none of these: it is a response."""


class WebSocketError(Error):
    """The WebSocket failed."""


class MulticastError(Error):
    """The group is not to be had."""


class InternalError(Error):
    """The library itself failed, or was used in a way that it cannot be."""


# The parts of the library, by the first code behind each.
_PARTS = [
    (-20, UsageError),
    (-40, ConnectError),
    (-60, ProxyError),
    (-80, TlsError),
    (-110, HttpError),
    (-130, WebSocketError),
    (-150, MulticastError),
    (-200, InternalError),
]


def _class_of(name, code):
    base = next(part for end, part in _PARTS if code > end)
    if base is TlsError and (name.startswith("Cert") or name == "PinMismatch"):
        base = CertificateError
    bases = (base,)
    if name.endswith("Timeout") or name == "TimedOut":
        bases += (TimeoutError,)
    if name == "WouldBlock":
        bases += (BlockingIOError,)
    text = ffi.string(lib.ic_strerror(code)).decode()
    return type(name, bases, {"__doc__": text[:1].upper() + text[1:] + ".", "code": code, "__module__": __name__})


_BY_CODE = {}
for _number, _name in sorted(ffi.typeof("enum ic_code").elements.items(), reverse=True):
    if _number < 0:
        _class = _class_of(_name.removeprefix("IC_E_").title().replace("_", ""), _number)
        _BY_CODE[_number] = globals()[_class.__name__] = _class

__all__ = ["Phase"] + [
    _thing.__name__ for _thing in list(globals().values()) if isinstance(_thing, type) and issubclass(_thing, Error)
]


def of(described):
    """Makes the exception that an ic_error describes."""
    make = _BY_CODE.get(described.code, Error)
    error = make(
        ffi.string(described.msg).decode(errors="replace"),
        phase=Phase(described.phase) if described.phase in _PHASES else Phase.NONE,
        os_errno=described.os_errno or None,
        tls_alert=described.tls_alert if described.tls_alert >= 0 else None,
        http_status=described.http_status or None,
    )
    if make is Error:
        error.code = described.code
    return error


_PHASES = set(Phase)


def last(conn, code):
    """Makes the exception of a code that a call returned for a handle, or for no handle."""
    described = ffi.new("ic_error *", {"struct_size": ffi.sizeof("ic_error")})
    for asked in (conn, ffi.NULL):
        if lib.ic_last_error(asked, described) == 0 and described.code == code:
            return of(described)
    described.code = code
    described.msg = ffi.string(lib.ic_strerror(code))
    described.phase = 0
    return of(described)


def check(code, conn=ffi.NULL):
    """Raises the exception of a code, if it is one."""
    if code < 0:
        raise last(conn, code)
