"""Visits Iolite's echo server with a package of PyPI: `client.py PACKAGE URL AUTHORITY`. Fails by an exception."""

import ssl
import sys

KIND, URL, AUTHORITY = sys.argv[1:4]
LENGTHS = (0, 1, 125, 126, 65_535, 65_536, 1_000_000)


def contents():
    for length in LENGTHS:
        yield "grüße" * (length // 5)
        yield bytes(range(256)) * (length // 256)


def trust():
    return ssl.create_default_context(cafile=AUTHORITY)


def visit_with_requests():
    import requests

    with requests.Session() as session:
        session.verify = AUTHORITY
        session.trust_env = False
        answer = session.get(URL + "some/where?a=b")
        assert (answer.status_code, answer.text) == (200, "GET /some/where?a=b"), answer.text
        for content in contents():
            body = content.encode() if isinstance(content, str) else content
            answer = session.post(URL, data=body)
            assert answer.status_code == 200
            assert not body or answer.content == body, (len(answer.content), len(body))
        # A body of unknown length goes in chunks.
        answer = session.put(URL, data=iter([b"one", b"two", b"six"]))
        assert answer.content == b"onetwosix", answer.content
        answer = session.get(URL + "chunked")
        assert answer.headers["Transfer-Encoding"] == "chunked"
        assert answer.content == b"onetwosix", answer.content
        answer = session.head(URL)
        assert (answer.status_code, answer.content) == (200, b"")
        assert len(session.get(URL + "large").content) == 3_000_000
        assert session.get(URL, headers={"Connection": "close"}).headers["Connection"] == "close"
        assert session.get(URL).status_code == 200


def visit_with_websocket_client():
    import websocket

    options = {"ca_certs": AUTHORITY}
    socket = websocket.create_connection(URL, timeout=30, subprotocols=["other", "echo"], sslopt=options)
    assert socket.getsubprotocol() == "echo"
    for content in contents():
        if isinstance(content, str):
            socket.send(content)
        else:
            socket.send_binary(content)
        answer = socket.recv()
        assert answer == content, (len(answer), len(content))
    socket.ping("are you there")
    code, payload = socket.recv_data(control_frame=True)
    assert (code, payload) == (websocket.ABNF.OPCODE_PONG, b"are you there"), (code, payload)
    socket.send_close(1001, b"bye")
    code, payload = socket.recv_data(control_frame=True)
    assert (code, payload[:2]) == (websocket.ABNF.OPCODE_CLOSE, b"\x03\xe9"), (code, payload)
    socket.close()


def visit_with_websockets():
    from websockets.sync.client import connect

    options = {"ssl": trust()} if URL.startswith("wss") else {}
    for compression in (None, "deflate"):
        with connect(URL, compression=compression, max_size=None, proxy=None, **options) as socket:
            agreed = [extension.name for extension in socket.protocol.extensions]
            assert agreed == ([] if compression is None else ["permessage-deflate"]), agreed
            for content in contents():
                socket.send(content)
                answer = socket.recv(timeout=30)
                assert answer == content, (len(answer), len(content))
            # In fragments.
            socket.send(iter(["one", "two", "six"]))
            assert socket.recv(timeout=30) == "onetwosix"
            assert socket.ping().wait(30)
            socket.close(1000, "done")
            assert socket.close_code == 1000, socket.close_code


VISITS = {
    "requests": visit_with_requests,
    "websocket-client": visit_with_websocket_client,
    "websockets": visit_with_websockets,
}

VISITS[KIND]()
