"""PyPI rns: the Reticulum reference behind the line protocol of Iolite's interop tests.

The first argument is the folder with the node's configuration. Hashes and payloads are hexadecimal; what may be long
is told by length and SHA-256.
"""

import os
import sys
import tempfile
import threading
import time

import rns_lines as lines
from rns_lines import content, digits, fingerprint, tell

import RNS
import RNS.Buffer
import RNS.Channel

KINDS = {
    "single": RNS.Destination.SINGLE,
    "group": RNS.Destination.GROUP,
    "plain": RNS.Destination.PLAIN,
}

DIRECTIONS = {"in": RNS.Destination.IN, "out": RNS.Destination.OUT}

PROOFS = {
    "never": RNS.Destination.PROVE_NONE,
    "on_wish": RNS.Destination.PROVE_APP,
    "always": RNS.Destination.PROVE_ALL,
}

ALLOWANCES = {
    "nobody": RNS.Destination.ALLOW_NONE,
    "everyone": RNS.Destination.ALLOW_ALL,
    "listed": RNS.Destination.ALLOW_LIST,
}

CLOSURES = {
    RNS.Link.TIMEOUT: "timeout",
    RNS.Link.INITIATOR_CLOSED: "by_initiator",
    RNS.Link.DESTINATION_CLOSED: "by_destination",
}

OUTCOMES = {
    RNS.Resource.COMPLETE: "complete",
    RNS.Resource.FAILED: "failed",
    RNS.Resource.CORRUPT: "corrupt",
    RNS.Resource.REJECTED: "rejected",
}

# A destination that proves on wish proves the packets that begin so.
WISH = b"prove"

# How many seconds a channel may take to have room for a message.
PATIENCE = 10


def permille(transfer):
    return round(1000 * transfer.get_progress())


class Message(RNS.Channel.MessageBase):
    """A channel message whose contents are bytes."""

    MSGTYPE = 0x0101

    def __init__(self, data=b""):
        self.data = data

    def pack(self):
        return self.data

    def unpack(self, raw):
        self.data = raw


class Ear:
    """Tells of every announce."""

    aspect_filter = None
    receive_path_responses = True

    def received_announce(self, destination_hash, announced_identity, app_data, announce_packet_hash, is_path_response):
        tell(
            "announce",
            destination=digits(destination_hash),
            identity=digits(announced_identity.hash),
            app_data=digits(app_data),
            hops=RNS.Transport.hops_to(destination_hash),
            path_response=bool(is_path_response),
        )


class Destinations:
    """The destinations of this program, and what they do by themselves."""

    def __init__(self, links):
        self.links = links
        self.by_hash = {"in": {}, "out": {}}
        self.files = tempfile.mkdtemp(prefix="files", dir=sys.argv[1])

    def create(self, wanted, identity):
        destination = RNS.Destination(
            identity,
            DIRECTIONS[wanted["direction"]],
            KINDS[wanted["kind"]],
            *wanted["name"].split("."),
        )
        if wanted["kind"] == "group":
            destination.load_private_key(bytes.fromhex(wanted["group_key"]))
        if wanted["direction"] == "in":
            self.listen(destination, wanted)
        self.by_hash[wanted["direction"]][destination.hash] = destination
        return digits(destination.hash)

    def own(self, destination):
        return self.by_hash["in"][bytes.fromhex(destination)]

    def other(self, destination):
        return self.by_hash["out"][bytes.fromhex(destination)]

    def listen(self, destination, wanted):
        destination.set_packet_callback(self.on_packet)
        destination.set_proof_strategy(PROOFS[wanted["proofs"]])
        destination.set_proof_requested_callback(
            lambda packet: destination.decrypt(packet.data).startswith(WISH)
        )
        if wanted["app_data"] is not None:
            destination.set_default_app_data(bytes.fromhex(wanted["app_data"]))
        if wanted["ratchets"] != "off":
            destination.enable_ratchets(os.path.join(self.files, digits(destination.hash) + ".ratchets"))
        if wanted["ratchets"] == "enforced":
            destination.enforce_ratchets()
        if wanted["kind"] == "single":
            destination.accepts_links(wanted["accepts_links"])
            destination.set_link_established_callback(
                lambda link: self.links.adopt(link, wanted["largest_resource"])
            )
        for handler in wanted["handlers"]:
            self.answer(destination, handler)

    def answer(self, destination, handler):
        def generate(path, data, request_id, link_id, remote_identity, requested_at):
            tell(
                "request",
                link=digits(link_id),
                request=digits(request_id),
                path=path,
                body=fingerprint(data or b""),
                identity=digits(remote_identity.hash) if remote_identity else None,
            )
            if handler["answer"] == "echo":
                return data
            made = content(handler["content"])
            return self.file(made) if handler["answer"] == "file" else made

        destination.register_request_handler(
            handler["path"],
            generate,
            allow=ALLOWANCES[handler["allow"]],
            allowed_list=[bytes.fromhex(identity) for identity in handler["listed"]],
        )

    def file(self, made):
        """An answer in a file, with the name as metadata."""
        with tempfile.NamedTemporaryFile(dir=self.files, delete=False) as file:
            file.write(made)
        return [open(file.name, "rb"), {"name": b"answer"}]

    def on_packet(self, data, packet):
        tell(
            "packet",
            destination=digits(packet.destination.hash),
            payload=digits(data),
            ratchet=digits(packet.ratchet_id),
        )


class Links:
    """The links of this program, and what happens on them."""

    def __init__(self):
        self.by_id = {}
        self.buffers = {}
        self.resources = {}

    def open(self, destination):
        link = RNS.Link(destination, self.on_established, self.on_closed)
        self.follow(link, None)
        return digits(link.link_id)

    def adopt(self, link, largest_resource):
        self.follow(link, largest_resource)
        link.set_link_closed_callback(self.on_closed)
        self.on_established(link)

    def follow(self, link, largest_resource):
        self.by_id[digits(link.link_id)] = link
        link.set_packet_callback(lambda data, packet: self.on_packet(link, data))
        link.set_remote_identified_callback(self.on_identified)
        link.set_resource_started_callback(self.on_resource_started)
        link.set_resource_concluded_callback(self.on_resource_received)
        if largest_resource is None:
            link.set_resource_strategy(RNS.Link.ACCEPT_ALL)
        else:
            link.set_resource_strategy(RNS.Link.ACCEPT_APP)
            link.set_resource_callback(lambda offered: offered.get_data_size() <= largest_resource)

    def on_established(self, link):
        tell(
            "link_established",
            link=digits(link.link_id),
            destination=digits(link.destination.hash),
            mtu=link.get_mtu(),
            mdu=link.get_mdu(),
        )

    def on_closed(self, link):
        tell("link_closed", link=digits(link.link_id), closure=CLOSURES.get(link.teardown_reason, "unknown"))

    def on_identified(self, link, identity):
        tell("link_identified", link=digits(link.link_id), identity=digits(identity.hash))

    def on_packet(self, link, data):
        tell("link_packet", link=digits(link.link_id), payload=digits(data))

    def on_resource_started(self, resource):
        name = digits(resource.original_hash)
        # Each segment of a long resource starts anew.
        is_first = name not in self.resources
        self.resources[name] = resource
        if is_first:
            tell("resource_offered", link=digits(resource.link.link_id), resource=name, size=resource.total_size)

    def on_resource_received(self, resource):
        complete = resource.status == RNS.Resource.COMPLETE
        tell(
            "resource_received",
            link=digits(resource.link.link_id),
            resource=digits(resource.original_hash),
            outcome=OUTCOMES.get(resource.status, "failed"),
            body=fingerprint(resource.data.read()) if complete else None,
            note=digits(resource.metadata["note"]) if complete and resource.metadata else None,
        )

    def send_resource(self, link, wanted):
        def on_progress(resource):
            tell("resource_progress", resource=digits(resource.original_hash), permille=permille(resource))

        def on_concluded(resource):
            outcome = OUTCOMES.get(resource.status, "failed")
            tell("resource_sent", resource=digits(resource.original_hash), outcome=outcome)

        note = wanted["note"]
        made = content(wanted["content"])
        if len(made) > RNS.Resource.MAX_EFFICIENT_SIZE:
            file = tempfile.TemporaryFile(dir=sys.argv[1])
            file.write(made)
            file.seek(0)
            made = file
        resource = RNS.Resource(
            made,
            self.by_id[link],
            metadata=None if note is None else {"note": bytes.fromhex(note)},
            callback=on_concluded,
            progress_callback=on_progress,
        )
        self.resources[digits(resource.original_hash)] = resource
        return digits(resource.original_hash)

    def request(self, link, path, body):
        def on_answered(receipt):
            answer = receipt.response
            told = answer.read() if hasattr(answer, "read") else answer
            tell(
                "response",
                request=digits(receipt.request_id),
                body=fingerprint(told or b""),
                file_name=digits(receipt.metadata["name"]) if receipt.metadata else None,
            )

        def on_failed(receipt):
            tell("request_failed", request=digits(receipt.request_id))

        def on_progress(receipt):
            tell("request_progress", request=digits(receipt.request_id), permille=permille(receipt))

        receipt = self.by_id[link].request(path, body, on_answered, on_failed, on_progress)
        if not receipt:
            raise RuntimeError("the request was not sent")
        return digits(receipt.request_id)

    def open_channel(self, link):
        def on_message(message):
            if isinstance(message, Message):
                tell("channel_message", link=link, payload=digits(message.data))
            return isinstance(message, Message)

        channel = self.by_id[link].get_channel()
        channel.register_message_type(Message)
        channel.add_message_handler(on_message)

    def open_buffer(self, link, receive, send):
        def on_ready(ready):
            # Each call comes on a thread of its own.
            with turn:
                data = buffer.read(ready)
                if data:
                    tell("buffer_bytes", link=link, stream=receive, payload=digits(data))
                else:
                    tell("buffer_ended", link=link, stream=receive)

        turn = threading.Lock()
        channel = self.by_id[link].get_channel()
        buffer = RNS.Buffer.create_bidirectional_buffer(receive, send, channel, on_ready)
        self.buffers[link] = buffer


class Commands:
    """What a test can have this program do."""

    def __init__(self, node):
        self.node = node
        self.identities = {}
        self.links = Links()
        self.destinations = Destinations(self.links)
        RNS.Transport.register_announce_handler(Ear())

    def do_create_identity(self):
        return self.keep(RNS.Identity())

    def do_load_identity(self, private_key):
        return self.keep(RNS.Identity.from_bytes(bytes.fromhex(private_key)))

    def keep(self, identity):
        self.identities[digits(identity.hash)] = identity
        return digits(identity.hash)

    def do_create_destination(self, identity, **wanted):
        known = None
        if identity is not None:
            known = self.identities.get(identity)
            known = known or RNS.Identity.recall(bytes.fromhex(identity), from_identity_hash=True)
            if known is None:
                raise KeyError(f"nobody told of the identity {identity}")
        return self.destinations.create(wanted, known)

    def do_announce(self, destination, app_data):
        data = None if app_data is None else bytes.fromhex(app_data)
        self.destinations.own(destination).announce(app_data=data)

    def do_request_path(self, destination):
        RNS.Transport.request_path(bytes.fromhex(destination))

    def do_hops_to(self, destination):
        known = RNS.Transport.has_path(bytes.fromhex(destination))
        return RNS.Transport.hops_to(bytes.fromhex(destination)) if known else None

    def do_send_packet(self, destination, payload):
        return self.send(self.destinations.other(destination), payload)

    def do_send_on_link(self, link, payload):
        return self.send(self.links.by_id[link], payload)

    def send(self, to, payload):
        packet = RNS.Packet(to, bytes.fromhex(payload))
        receipt = packet.send()
        if receipt is False:
            raise RuntimeError("no interface took the packet")
        name = digits(packet.packet_hash)
        if receipt:
            self.follow(receipt, name)
        return name

    def follow(self, receipt, name):
        once = threading.Lock()

        def on_proved(_):
            if once.acquire(blocking=False):
                tell("packet_proved", packet=name)

        receipt.set_delivery_callback(on_proved)
        receipt.set_timeout_callback(lambda _: tell("packet_unproved", packet=name))
        # The proof may have come before the callback was set.
        if receipt.get_status() == RNS.PacketReceipt.DELIVERED:
            on_proved(receipt)

    def do_open_link(self, destination):
        return self.links.open(self.destinations.other(destination))

    def do_identify(self, link, identity):
        self.links.by_id[link].identify(self.identities[identity])

    def do_close_link(self, link):
        self.links.by_id[link].teardown()

    def do_request(self, link, path, content):
        return self.links.request(link, path, lines.content(content))

    def do_send_resource(self, link, **wanted):
        return self.links.send_resource(link, wanted)

    def do_cancel_resource(self, resource):
        self.links.resources[resource].cancel()

    def do_open_channel(self, link):
        self.links.open_channel(link)

    def do_send_message(self, link, payload):
        channel = self.links.by_id[link].get_channel()
        deadline = time.monotonic() + PATIENCE
        while not channel.is_ready_to_send() and time.monotonic() < deadline:
            time.sleep(0.001)
        channel.send(Message(bytes.fromhex(payload)))

    def do_open_buffer(self, link, receive, send):
        self.links.open_buffer(link, receive, send)

    def do_write_buffer(self, link, content):
        buffer = self.links.buffers[link]
        buffer.write(lines.content(content))
        buffer.flush()

    def do_close_buffer(self, link):
        self.links.buffers[link].close()

    def do_persist_and_exit(self):
        RNS.Reticulum.exit_handler()

    def do_interfaces(self):
        return [
            {
                "name": interface["name"],
                "up": interface["status"],
                "clients": interface.get("clients"),
                "received": interface["rxb"],
                "sent": interface["txb"],
            }
            for interface in self.node.get_interface_stats()["interfaces"]
        ]


def main():
    node = RNS.Reticulum(configdir=sys.argv[1])
    commands = Commands(node)
    identity = RNS.Transport.identity
    tell("ready", transport=digits(identity.hash) if identity else None)
    lines.obey(commands)
    RNS.exit()


main()
