"""The clients: for each a function that sends a message and returns its echo."""

import socket
import ssl
import struct

import framing

SCHEMES = ["http", "https", "ws", "wss", "udp", "udp_multicast"]
MODES = ["requests", "websocket-client", "socket"]

HOST = "localhost"


def connect(mode, scheme, address, identity):
    if mode == "requests":
        return of_requests(scheme, address, identity)
    if mode == "websocket-client":
        return of_websocket_client(scheme, address, identity)
    if scheme == "udp":
        return of_datagrams(address)
    if scheme == "udp_multicast":
        return of_groups(address)
    stream = open_stream(scheme, address, identity)
    return of_frames(stream) if scheme in ("ws", "wss") else of_bodies(stream)


def of_requests(scheme, address, identity):
    import requests

    session = requests.Session()
    session.trust_env = False
    if identity is not None:
        session.verify = f"{identity}/certificate.pem"
    url = f"{scheme}://{address[0]}:{address[1]}/echo"
    post = session.post

    def exchange(message):
        return post(url, data=message).content

    return exchange


def of_websocket_client(scheme, address, identity):
    import websocket

    stream = open_stream(scheme, address, identity)
    client = websocket.create_connection(
        f"{scheme}://{HOST}:{address[1]}/echo", socket=stream, http_no_proxy=["*"]
    )
    send, receive = client.send_binary, client.recv

    def exchange(message):
        send(message)
        return receive()

    return exchange


def open_stream(scheme, address, identity):
    stream = socket.create_connection(address)
    stream.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    if scheme in ("https", "wss"):
        context = ssl.create_default_context(cafile=f"{identity}/certificate.pem")
        context.minimum_version = ssl.TLSVersion.TLSv1_3
        stream = context.wrap_socket(stream, server_hostname=HOST)
    return stream


def of_bodies(stream):
    reader = framing.Reader(stream)

    def exchange(message):
        head = b"POST /echo HTTP/1.1\r\nHost: localhost\r\nContent-Length: %d\r\n\r\n" % len(message)
        framing.send(stream, head, message)
        return reader.read_body(b"HTTP/1.1 200 ")

    return exchange


def of_frames(stream):
    reader = framing.Reader(stream)
    framing.ask(stream, reader)

    def exchange(message):
        framing.send_frame(stream, message, masked=True)
        return reader.read_message()

    return exchange


def of_datagrams(address):
    channel = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    channel.bind(("127.0.0.1", 0))
    channel.connect(address)
    send, receive = channel.send, channel.recv

    def exchange(message):
        send(message)
        return receive(65536)

    return exchange


def of_groups(address):
    channel = member_of("239.255.77.2")
    send, receive = channel.sendto, channel.recv

    def exchange(message):
        send(message, address)
        return receive(65536)

    return exchange


def member_of(group):
    """A member of a group at a port of its own, as `bench_peer::conn::groups` has them."""
    loopback = socket.inet_aton("127.0.0.1")
    channel = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    channel.bind((group, 0))
    membership = struct.pack("4s4s", socket.inet_aton(group), loopback)
    channel.setsockopt(socket.IPPROTO_IP, socket.IP_ADD_MEMBERSHIP, membership)
    channel.setsockopt(socket.IPPROTO_IP, socket.IP_MULTICAST_IF, loopback)
    channel.setsockopt(socket.IPPROTO_IP, socket.IP_MULTICAST_TTL, 0)
    channel.setsockopt(socket.IPPROTO_IP, socket.IP_MULTICAST_LOOP, 1)
    return channel
