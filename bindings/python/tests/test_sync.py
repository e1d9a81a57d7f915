"""The connection that its caller drives."""

import array
import gc
import os
import resource
import signal
import socket
import threading
import time

import pytest
from conftest import descriptors

import iolite_conn
from iolite_conn import Connection, Flags, Kind, Message, Phase, State, errors


def test_a_request_is_answered_with_status_headers_and_body(peer):
    with Connection(peer.http) as connection:
        answer = connection.request("PUT", "/echo", b"hello", {"X-Echo-Me": "yes"})
        assert (answer.kind, answer.status, answer.ok) == (Kind.RESPONSE, 200, True)
        assert answer.headers["x-method"] == "PUT"
        assert answer.headers["X-ECHO-ME"] == "yes"
        assert bytes(answer) == b"hello" and answer.text == "hello" and len(answer) == 5
        assert answer.peer.startswith("127.0.0.1:")
        assert answer.received > 0
        assert connection.get("/status/404").status == 404
        assert connection.state == State.HTTP_READY
    assert connection.state == State.CLOSED


@pytest.mark.parametrize("size", [0, 1, 64, 16383, 16384, 131072, 1 << 20])
def test_bodies_of_every_size_come_back(peer, size):
    body = os.urandom(size)
    with Connection(peer.http) as connection:
        assert bytes(connection.post("/echo", body)) == body


def test_every_contiguous_buffer_is_a_body(peer):
    numbers = array.array("I", range(10_000))
    with Connection(peer.http) as connection:
        for body in (bytearray(b"abc"), memoryview(b"abcdef")[1:4], numbers, "text"):
            expected = body.encode() if isinstance(body, str) else bytes(memoryview(body).cast("B"))
            assert bytes(connection.post("/echo", body)) == expected
        with pytest.raises((BufferError, ValueError, TypeError)):
            connection.post("/echo", memoryview(b"abcdef")[::2])


def test_a_body_is_a_view_that_outlives_message_and_connection(peer):
    with Connection(peer.http) as connection:
        view = connection.get("/bytes/100000").body
    gc.collect()
    assert view.readonly and view.nbytes == 100_000 and bytes(view[:3]) == b"xxx"
    assert bytes(view) == b"x" * 100_000


def test_a_response_goes_into_a_buffer_and_what_does_not_fit_is_kept(peer):
    buffer = bytearray(16)
    with Connection(peer.http) as connection:
        assert connection.request_into(buffer, "POST", "/echo", b"hello") == (200, 5)
        assert buffer[:5] == b"hello"
        with pytest.raises(errors.TooSmall):
            connection.request_into(buffer, target="/bytes/17")
        assert len(connection.recv()) == 17
        with pytest.raises((BufferError, TypeError, ValueError)):
            connection.request_into(b"read only", target="/bytes/1")


def test_a_websocket_sends_and_receives_text_and_bytes(ws):
    with Connection(ws, deflate=6) as connection:
        connection.connect()
        connection.send("grüße")
        answer = connection.recv()
        assert (answer.kind, answer.text) == (Kind.TEXT, "grüße")
        connection.send(memoryview(b"\x00" * 40_000))
        answer = connection.recv()
        assert (answer.kind, len(answer)) == (Kind.BINARY, 40_000)
        assert Flags.COMPRESSED in answer.flags
        buffer = bytearray(8)
        connection.send(b"12345")
        assert connection.recv_into(buffer) == 5 and buffer[:5] == b"12345"
        connection.close(1000, "bye")
        assert connection.closed[0] == 1000
        assert list(connection) == []


def test_datagrams_come_back(peer):
    with Connection(peer.udp) as connection:
        connection.send(b"datagram")
        answer = connection.recv(timeout=5)
        assert (answer.kind, bytes(answer)) == (Kind.DATAGRAM, b"datagram")
        assert answer.peer == peer.udp.removeprefix("udp://")
        connection.send(Message.datagram(bytearray(b"again")))
        assert bytes(connection.recv(timeout=5)) == b"again"


def test_a_group_is_heard_on_the_interface_that_it_was_joined_on():
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    with Connection(f"udp_multicast://239.83.7.22:{port}", interface=["lo"]) as member:
        member.connect()
        member.send(b"hello, group")
        heard = member.recv(timeout=5)
        assert bytes(heard) == b"hello, group"
        assert heard.interface == socket.if_nametoindex("lo")
        assert heard.local == f"239.83.7.22:{port}"


def test_tls_believes_whom_it_is_told_to(peer):
    url = peer.https.replace("127.0.0.1", "localhost")
    with Connection(url, ca_file=peer.certificate) as connection:
        assert bytes(connection.post("/echo", b"secret")) == b"secret"
    with open(peer.certificate, "rb") as file:
        pem = file.read()
    with Connection(url, ca_pem=pem, server_name="localhost") as connection:
        assert connection.get("/bytes/1").status == 200
    with Connection(url) as connection, pytest.raises(errors.CertificateError) as caught:
        connection.get()
    assert caught.value.phase == Phase.TLS
    with Connection(url, insecure_skip_verify=True) as connection:
        assert connection.get("/bytes/1").ok


def test_errors_are_classes_with_codes_and_phases():
    with socket.socket() as closed:
        closed.bind(("127.0.0.1", 0))
        port = closed.getsockname()[1]
    with Connection(f"http://127.0.0.1:{port}/") as connection, pytest.raises(errors.ConnectRefused) as caught:
        connection.get()
    error = caught.value
    assert isinstance(error, errors.ConnectError) and isinstance(error, ConnectionError)
    assert (error.code, error.phase, error.os_errno) == (-22, Phase.CONNECT, 111)
    assert error.is_transient and error.tls_alert is None and error.http_status is None
    with pytest.raises(errors.BadUrl) as caught:
        Connection("nonsense")
    assert caught.value.phase == Phase.ARGUMENTS and not caught.value.is_transient


def test_bad_options_and_messages_are_told_and_not_sent(peer):
    with pytest.raises(errors.BadOption, match="caller's thread"):
        Connection(peer.http, threads=4)
    with pytest.raises(TypeError, match="no option"):
        Connection(peer.http, nonsense=1)
    with pytest.raises(ValueError, match="receive mode"):
        Connection(peer.http, receive_mode="sleep")
    with pytest.raises(errors.BadOption):
        Connection(peer.http, ca_file="/nowhere")
    with Connection(peer.http) as connection:
        with pytest.raises(errors.BadHeader):
            connection.get(headers={"X-A": "1\r\nX-B: 2"})
        with pytest.raises(errors.BadMessage):
            connection.send("text")
        assert connection.get("/bytes/1").ok


def test_a_deadline_is_kept_and_the_connection_goes_on(peer):
    with Connection(peer.http) as connection:
        start = time.monotonic()
        with pytest.raises(errors.TimedOut) as caught:
            connection.get("/slow", timeout=0.25)
        assert isinstance(caught.value, TimeoutError)
        assert 0.2 < time.monotonic() - start < 3
        assert connection.get("/bytes/1", timeout=5).ok


def test_polling_does_not_wait(ws):
    with Connection(ws, receive_mode="poll") as connection:
        connection.connect(5)
        with pytest.raises(errors.WouldBlock) as caught:
            connection.recv()
        assert isinstance(caught.value, BlockingIOError)
        connection.send(b"1")
        while True:
            try:
                assert bytes(connection.recv()) == b"1"
                break
            except errors.WouldBlock:
                time.sleep(0.001)


def test_another_thread_cancels_a_wait(ws):
    with Connection(ws, wakeable=True) as connection:
        connection.connect()
        threading.Timer(0.1, connection.cancel).start()
        start = time.monotonic()
        with pytest.raises(errors.Cancelled):
            connection.recv(timeout=10)
        assert time.monotonic() - start < 5
        with Connection(ws) as other, pytest.raises(errors.BadState, match="IC_OPT_WAKEABLE"):
            other.cancel()


def test_a_signal_ends_a_wait(ws):
    class Interrupted(Exception):
        pass

    def interrupt(*_):
        raise Interrupted

    before = signal.signal(signal.SIGALRM, interrupt)
    try:
        with Connection(ws) as connection:
            connection.connect()
            signal.setitimer(signal.ITIMER_REAL, 0.1)
            with pytest.raises(Interrupted):
                connection.recv(timeout=10)
    finally:
        signal.signal(signal.SIGALRM, before)


def test_a_foreign_loop_drives_it(peer):
    import select

    with Connection(peer.http) as connection:
        exchange = connection.send(Message.request("GET", "/bytes/200000"))
        for _ in range(1000):
            try:
                answer = connection.answer(exchange, timeout=0)
                break
            except (errors.WouldBlock, errors.TimedOut):
                pass
            fd, (read, write) = connection.fileno(), connection.wants
            wait = connection.next_timeout
            select.select([fd] * read, [fd] * write, [], 1 if wait is None else min(wait, 1))
            connection.process()
        assert len(answer) == 200_000


def test_messages_can_be_sent_again_and_are_read_like_others(peer):
    message = Message.request("POST", "/echo", bytearray(b"again"), [("X-Echo-A", "1"), ("X-Echo-A", "2")])
    assert (message.method, message.target, message.text) == ("POST", "/echo", "again")
    with Connection(peer.http) as connection:
        for _ in range(3):
            answer = connection.exchange(message)
            assert answer.headers.all("x-echo-a") == ["1", "2"]
            assert bytes(answer) == b"again"


def test_bodies_are_sent_and_received_in_parts(peer):
    with Connection(peer.http) as connection:
        exchange = connection.send(Message.request("POST", "/echo", in_parts=True, answer_in_parts=True))
        connection.connect()
        for _ in range(8):
            connection.send_part(b"p" * 50_000)
        connection.finish_body()
        answer = connection.answer(exchange, timeout=5)
        assert answer.status == 200 and Flags.STREAMED in answer.flags
        parts = list(connection.parts(timeout=5))
        assert sum(part.nbytes for part in parts) == 400_000 and len(parts) > 1
        assert connection.get("/bytes/1").ok


def test_states_are_told(peer):
    states = []
    with Connection(peer.http, state_callback=lambda state, _: states.append(State(state))) as connection:
        connection.get("/bytes/1")
    assert states[-2:] == [State.HTTP_READY, State.CLOSED]


def test_opening_and_closing_again_and_again_grows_nothing(peer, ws):
    def round_trip():
        with Connection(peer.http) as connection:
            assert connection.post("/echo", b"x" * 20_000).body.nbytes == 20_000
        with Connection(ws, wakeable=True) as connection:
            connection.send(b"1")
            connection.recv()

    for _ in range(100):
        round_trip()
    gc.collect()
    before, memory = descriptors(), resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    for _ in range(500):
        round_trip()
    gc.collect()
    assert descriptors() == before
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - memory < 4096


def test_a_connection_that_was_left_can_do_no_harm(peer):
    with Connection(peer.http) as connection:
        pass
    with pytest.raises(errors.BadHandle):
        connection.get()
    assert connection.state == State.CLOSED


def test_the_version_is_told():
    assert iolite_conn.version().startswith("iolite_conn ")


def test_a_key_log_is_written_for_those_who_ask(peer):
    lines = []
    url = peer.https.replace("127.0.0.1", "localhost")
    with Connection(url, ca_file=peer.certificate, key_log_callback=lambda _, line: lines.append(line)) as connection:
        assert connection.get("/bytes/1").ok
    assert any(line.startswith("CLIENT_TRAFFIC_SECRET_0 ") for line in lines)
