"""An echo peer for the tests."""

import collections
import os
import subprocess

import pytest

Peer = collections.namedtuple("Peer", "http https udp certificate")


@pytest.fixture(scope="session")
def peer():
    """The URLs of a peer that sends back what it gets, and the certificate to believe."""
    with subprocess.Popen(
        [os.environ["IOLITE_CONN_ECHO"]], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        yield Peer(*(process.stdout.readline().strip() for _ in range(4)))
        process.stdin.close()
        process.wait(10)


@pytest.fixture
def ws(peer):
    """The URL of the peer's WebSocket."""
    return peer.http.replace("http", "ws", 1)


def descriptors():
    """How many descriptors this process has open."""
    return len(os.listdir("/proc/self/fd"))
