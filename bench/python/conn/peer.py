"""A peer in pure Python: a thread that echoes what it reads."""

import socket
import ssl
import threading
import time

import clients
import framing


class Gauge:
    """The times between a request that has fully arrived and the start of its answer."""

    def __init__(self):
        self.nanos = 0
        self.answers = 0

    def add(self, since):
        self.nanos += time.perf_counter_ns() - since
        self.answers += 1


def start(scheme, identity, gauge):
    """Starts the peer and returns its address. It lives as long as the process."""
    if scheme == "udp":
        channel = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        channel.bind(("127.0.0.1", 0))
        return run(echo_datagrams, channel, None, gauge)
    if scheme == "udp_multicast":
        return run(echo_datagrams, clients.member_of("239.255.77.1"), "239.255.77.2", gauge)
    listener = socket.create_server(("127.0.0.1", 0))
    return run(accept, listener, scheme, identity, gauge)


def run(work, endpoint, *arguments):
    threading.Thread(target=work, args=(endpoint, *arguments), daemon=True).start()
    return endpoint.getsockname()


def accept(listener, scheme, identity, gauge):
    context = None
    if scheme in ("https", "wss"):
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.minimum_version = ssl.TLSVersion.TLSv1_3
        context.load_cert_chain(f"{identity}/certificate.pem", f"{identity}/key.pem")
    echo = echo_frames if scheme in ("ws", "wss") else echo_bodies
    while True:
        stream, _ = listener.accept()
        stream.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        try:
            echo(context.wrap_socket(stream, server_side=True) if context else stream, gauge)
        except (EOFError, OSError):
            pass  # The end of the connection, which the client notices.


def echo_bodies(stream, gauge):
    reader = framing.Reader(stream)
    while True:
        body = reader.read_body(b"POST ")
        arrived = time.perf_counter_ns()
        head = b"HTTP/1.1 200 OK\r\nContent-Type: application/octet-stream\r\nContent-Length: %d\r\n\r\n" % len(body)
        gauge.add(arrived)
        framing.send(stream, head, body)


def echo_frames(stream, gauge):
    reader = framing.Reader(stream)
    framing.grant(stream, reader)
    while True:
        message = reader.read_message()
        gauge.add(time.perf_counter_ns())
        framing.send_frame(stream, message, masked=False)


def echo_datagrams(channel, answers, gauge):
    while True:
        datagram, sender = channel.recvfrom(65536)
        gauge.add(time.perf_counter_ns())
        channel.sendto(datagram, (answers, sender[1]) if answers else sender)
