"""PyPI raknet: C++ RakNet 4.081 behind the line protocol of Iolite's interop tests.

One JSON object a line: events on stdout, commands on stdin, the role and its options in the first argument.
"""

import json
import queue
import sys
import threading
import time

from raknet import MessageIdentifiers as Id
from raknet import PacketPriority, PacketReliability, RakPeer

PRIORITIES = [
    PacketPriority.IMMEDIATE_PRIORITY,
    PacketPriority.HIGH_PRIORITY,
    PacketPriority.MEDIUM_PRIORITY,
    PacketPriority.LOW_PRIORITY,
]

RELIABILITIES = [
    PacketReliability.UNRELIABLE,
    PacketReliability.UNRELIABLE_SEQUENCED,
    PacketReliability.RELIABLE,
    PacketReliability.RELIABLE_ORDERED,
    PacketReliability.RELIABLE_SEQUENCED,
    PacketReliability.UNRELIABLE_WITH_ACK_RECEIPT,
    PacketReliability.RELIABLE_WITH_ACK_RECEIPT,
    PacketReliability.RELIABLE_ORDERED_WITH_ACK_RECEIPT,
]


def tell(event, **fields):
    print(json.dumps({"event": event, **fields}), flush=True)


def read_commands(commands):
    for line in sys.stdin:
        commands.put(json.loads(line))
    commands.put({"do": "exit"})


class Node:
    def __init__(self, wanted):
        self.peer = RakPeer()
        self.other = None
        server = wanted["role"] == "server"
        self.peer.startup(
            host="127.0.0.1",
            port=0,
            max_connections=4,
            protocol_version=wanted.get("protocol", 11),
            max_internal_ids=20 if wanted.get("protocol", 11) >= 10 else 10,
        )
        if server:
            self.peer.max_incoming_connections = 4
            tell("listening", port=self.peer.get_bound_address().port)
        elif wanted.get("ping"):
            self.peer.ping(wanted["host"], wanted["port"])
        else:
            self.peer.connect(wanted["host"], wanted["port"])

    def handle(self, packet):
        data = packet.data
        kind = data[0]
        if kind in (Id.ID_CONNECTION_REQUEST_ACCEPTED, Id.ID_NEW_INCOMING_CONNECTION):
            self.other = packet.system_address
            tell("connected")
        elif kind in (Id.ID_SND_RECEIPT_ACKED, Id.ID_SND_RECEIPT_LOSS):
            tell(
                "receipt",
                receipt=int.from_bytes(data[1:5], sys.byteorder),
                acked=kind == Id.ID_SND_RECEIPT_ACKED,
            )
        elif kind == Id.ID_DISCONNECTION_NOTIFICATION:
            tell("disconnected", how="told")
        elif kind == Id.ID_CONNECTION_LOST:
            tell("disconnected", how="lost")
        elif kind == Id.ID_UNCONNECTED_PONG:
            tell("pong", payload=data[5:].hex())
        elif kind >= Id.ID_USER_PACKET_ENUM:
            tell("message", payload=data.hex())
        else:
            tell("refused", id=kind)

    def obey(self, command):
        if command["do"] == "send":
            receipt = self.peer.send(
                bytes.fromhex(command["payload"]),
                PRIORITIES[command["priority"]],
                RELIABILITIES[command["reliability"]],
                command["channel"],
                self.other,
            )
            tell("sent", receipt=receipt)
        elif command["do"] == "close":
            self.peer.shutdown(0.3)
        else:
            sys.exit(0)


def main():
    node = Node(json.loads(sys.argv[1]))
    commands = queue.Queue()
    threading.Thread(target=read_commands, args=(commands,), daemon=True).start()
    while True:
        idle = True
        while node.peer.active and (packet := node.peer.receive()) is not None:
            node.handle(packet)
            idle = False
        while not commands.empty():
            node.obey(commands.get())
            idle = False
        if idle:
            time.sleep(0.002)


main()
