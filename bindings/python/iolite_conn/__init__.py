"""One handle, one message, six schemes: http, https, ws, wss, udp and udp_multicast.

    from iolite_conn import Connection

    with Connection("http://192.168.1.7/") as robot:
        answer = robot.get("/status")
        print(answer.status, answer.text)

`Connection` is driven by the calls of its owner, without a thread; `AsyncConnection` by asyncio's loop.
"""

from . import errors
from ._asyncio import AsyncConnection
from ._connection import Connection, State, version
from ._message import Flags, Headers, Kind, Message
from .errors import Error, Phase

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
