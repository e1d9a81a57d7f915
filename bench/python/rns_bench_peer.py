"""PyPI rns as initiator, responder or relay of the benchmark: the Python counterpart of `bench/src/bin/iolite-rns`.

The command line and the lines on standard output are those of `bench_peer::rns`, and so are the contents.
"""

import argparse
import json
import os
import sys
import tempfile
import threading
import time

# The reference prints its log to standard output, which here belongs to the benchmark.
OUT = os.fdopen(os.dup(1), "w")
os.dup2(2, 1)

import RNS

PATH = "/bench"
APPLICATION = "iolite"
ASPECTS = ["bench"]

# How many bytes of noise there are at the most, after which they repeat.
NOISE = 1 << 20
NUMBER = 8
MASK = (1 << 64) - 1


def say(line):
    OUT.write(line + "\n")
    OUT.flush()


class Content:
    """Numbered contents: the number in eight bytes, then noise."""

    def __init__(self, least, most):
        self.least = least
        self.most = most
        state = 0x9E3779B97F4A7C15
        words = []
        for _ in range(-(-min(most, NOISE) // NUMBER)):
            state ^= (state << 13) & MASK
            state ^= state >> 7
            state ^= (state << 17) & MASK
            words.append(state.to_bytes(NUMBER, "little"))
        noise = b"".join(words)
        self.noise = noise * -(-most // len(noise))

    def size(self, number):
        return self.least + ((number * 37) & MASK) % (self.most - self.least + 1)

    def of(self, number):
        return number.to_bytes(NUMBER, "little") + self.noise[: self.size(number) - NUMBER]

    def check(self, contents):
        number = int.from_bytes(contents[:NUMBER], "little")
        noise = memoryview(self.noise)[: len(contents) - NUMBER]
        if len(contents) != self.size(number) or memoryview(contents)[NUMBER:] != noise:
            raise ValueError(f"contents {number} came broken")
        return number


class Tally:
    """Which contents were settled."""

    def __init__(self):
        self.count = self.bytes = self.numbers = 0

    def add(self, number, size):
        self.count += 1
        self.bytes += size
        self.numbers = (self.numbers + number) & MASK

    def told(self):
        return {"count": self.count, "bytes": self.bytes, "numbers": self.numbers}


def usage(process):
    """Processor seconds outside and in the kernel, and the peak of memory, of a process."""
    with open(f"/proc/{process}/stat") as file:
        fields = file.read().rpartition(")")[2].split()
    with open(f"/proc/{process}/status") as file:
        peak = next(int(line.split()[1]) for line in file if line.startswith("VmHWM:"))
    ticks = os.sysconf("SC_CLK_TCK")
    return int(fields[11]) / ticks, int(fields[12]) / ticks, peak * 1024


def between(begin, end):
    return {"peak_rss": end[2], "user_seconds": end[0] - begin[0], "system_seconds": end[1] - begin[1]}


class Node:
    """A node with one TCP interface."""

    def __init__(self, options):
        self.folder = tempfile.TemporaryDirectory(prefix="rns-bench")
        host, port = options.address.rsplit(":", 1)
        if options.role in ("responder", "relay"):
            place = f"type = TCPServerInterface\nlisten_ip = {host}\nlisten_port = {port}\n"
        else:
            place = f"type = TCPClientInterface\ntarget_host = {host}\ntarget_port = {port}\n"
        if options.mtu != "default":
            place += f"fixed_mtu = {options.mtu}\n"
        transport = "yes" if options.role == "relay" else "no"
        with open(os.path.join(self.folder.name, "config"), "w") as file:
            file.write(
                f"[reticulum]\nenable_transport = {transport}\nshare_instance = no\n"
                f"[logging]\nloglevel = 1\n[interfaces]\n[[bench]]\nenabled = yes\n{place}"
            )
        self.reticulum = RNS.Reticulum(self.folder.name)


class Responder:
    """Receives, proves and answers."""

    def __init__(self, content):
        self.content = content
        self.tally = Tally()
        self.lock = threading.Lock()
        self.fault = None
        self.destination = RNS.Destination(
            RNS.Identity(), RNS.Destination.IN, RNS.Destination.SINGLE, APPLICATION, *ASPECTS
        )
        self.destination.set_proof_strategy(RNS.Destination.PROVE_ALL)
        self.destination.set_packet_callback(lambda data, packet: self.see(data))
        self.destination.set_link_established_callback(self.adopt)
        self.destination.register_request_handler(PATH, self.answer, allow=RNS.Destination.ALLOW_ALL)

    def adopt(self, link):
        link.set_packet_callback(self.on_message)
        link.set_resource_strategy(RNS.Link.ACCEPT_ALL)
        link.set_resource_concluded_callback(self.on_resource)

    def on_message(self, data, packet):
        self.see(data)
        packet.prove()

    def answer(self, path, data, request_id, link_id, remote_identity, requested_at):
        number = int.from_bytes(data, "little")
        response = self.content.of(number)
        self.count(number, len(response))
        return response

    def on_resource(self, resource):
        if resource.status == RNS.Resource.COMPLETE:
            self.see(resource.data.read())
        else:
            self.fault = f"a resource ended with status {resource.status}"

    def see(self, contents):
        try:
            self.count(self.content.check(contents), len(contents))
        except ValueError as fault:
            self.fault = str(fault)

    def count(self, number, size):
        with self.lock:
            self.tally.add(number, size)


class Initiator:
    """Begins every operation: one thread for each that may be under way."""

    def __init__(self, options, content):
        self.options = options
        self.content = content
        self.lock = threading.Lock()
        self.next = 0
        self.begun = Tally()
        self.settled = Tally()
        self.times = []
        self.fault = None
        self.destination = self.find(bytes.fromhex(options.destination))
        self.links = [] if options.kind == "packet" else [self.connect() for _ in range(options.links)]
        self.files = tempfile.TemporaryDirectory(prefix="rns-bench")

    def find(self, hash):
        give_up = time.monotonic() + 20
        while not (RNS.Transport.has_path(hash) and RNS.Identity.recall(hash)):
            if time.monotonic() > give_up:
                raise SystemExit("the responder was not found")
            RNS.Transport.request_path(hash)
            time.sleep(0.25)
        return RNS.Destination(
            RNS.Identity.recall(hash), RNS.Destination.OUT, RNS.Destination.SINGLE, APPLICATION, *ASPECTS
        )

    def connect(self):
        established = threading.Event()
        link = RNS.Link(self.destination, lambda link: established.set())
        if not established.wait(20):
            raise SystemExit("no link was established")
        return link

    def run(self):
        options = self.options
        self.phase(options.warmup_ms / 1000)
        warm = self.settled.told()
        processes = [process for process in (os.getpid(), options.partner) if process]
        begin, started = [usage(process) for process in processes], time.monotonic()
        self.phase(options.time_ms / 1000)
        seconds, end = time.monotonic() - started, [usage(process) for process in processes]
        usages = [between(*pair) for pair in zip(begin, end)] + [None]
        settled = self.settled.told()
        return {
            "seconds": seconds,
            "operations": settled["count"] - warm["count"],
            "bytes": settled["bytes"] - warm["bytes"],
            "rtt": self.rtt(),
            "begun": self.begun.told(),
            "settled": settled,
            "own": usages[0],
            "partner": usages[1],
            "link_mtu": None,
        }

    def rtt(self):
        times = sorted(self.times)
        at = lambda share: times[min(len(times) - 1, int(share * len(times)))] * 1e6 if times else 0
        return {"p50": at(0.5), "p95": at(0.95), "p99": at(0.99), "max": at(1)}

    def phase(self, seconds):
        self.times.clear()
        until = time.monotonic() + seconds
        lanes = [
            threading.Thread(target=self.lane, args=(link, until), daemon=True)
            for link in (self.links or [None])
            for _ in range(self.options.window)
        ]
        for lane in lanes:
            lane.start()
        for lane in lanes:
            lane.join()
        if self.fault:
            raise SystemExit(self.fault)

    def lane(self, link, until):
        try:
            while (begin := time.monotonic()) < until and not self.fault:
                with self.lock:
                    number = self.next
                    self.next += 1
                    self.begun.add(number, self.content.size(number))
                self.perform(link, number)
                with self.lock:
                    self.times.append(time.monotonic() - begin)
                    self.settled.add(number, self.content.size(number))
        except Exception as fault:
            self.fault = f"{type(fault).__name__}: {fault}"

    def perform(self, link, number):
        done = threading.Event()
        conclude = lambda _: done.set()
        kind = self.options.kind
        if kind in ("packet", "message"):
            receipt = RNS.Packet(link or self.destination, self.content.of(number)).send()
            receipt.set_delivery_callback(conclude)
            receipt.set_timeout_callback(conclude)
            # The proof may have come before the callback was set.
            if receipt.status == RNS.PacketReceipt.SENT:
                done.wait(PATIENCE)
            if receipt.status != RNS.PacketReceipt.DELIVERED:
                raise RuntimeError(f"{kind} {number} was not proved")
        elif kind == "request":
            receipt = link.request(PATH, number.to_bytes(NUMBER, "little"), conclude, conclude)
            done.wait(PATIENCE)
            if receipt.get_status() != RNS.RequestReceipt.READY:
                raise RuntimeError(f"request {number} got no response")
            if self.content.check(receipt.get_response()) != number:
                raise RuntimeError(f"request {number} got another one's response")
        else:
            resource = RNS.Resource(self.source(number), link, callback=conclude, auto_compress=False)
            done.wait(PATIENCE)
            if resource.status != RNS.Resource.COMPLETE:
                raise RuntimeError(f"resource {number} ended with status {resource.status}")

    def source(self, number):
        """Contents of several segments are read from a file, as the reference wants them."""
        contents = self.content.of(number)
        if len(contents) <= RNS.Resource.MAX_EFFICIENT_SIZE:
            return contents
        path = os.path.join(self.files.name, "contents")
        with open(path, "wb") as file:
            file.write(contents)
        return open(path, "rb")


def parse():
    parser = argparse.ArgumentParser()
    parser.add_argument("role", choices=["responder", "initiator", "relay"])
    parser.add_argument("--listen", "--connect", dest="address", required=True)
    parser.add_argument("--kind", required=True)
    for option, default in [("window", 1), ("links", 1), ("least", 64), ("most", 64), ("partner", 0)]:
        parser.add_argument(f"--{option}", type=int, default=default)
    parser.add_argument("--mtu", default="default")
    parser.add_argument("--destination", default="")
    parser.add_argument("--warmup-ms", type=int, default=200)
    parser.add_argument("--time-ms", type=int, default=2000)
    return parser.parse_args()


def free(address):
    """Chooses a port where none is given: the reference does not tell which one it got."""
    import socket

    host, port = address.rsplit(":", 1)
    with socket.create_server((host, int(port))) as listener:
        return f"{host}:{listener.getsockname()[1]}"


def main():
    options = parse()
    if options.role in ("responder", "relay"):
        options.address = free(options.address)
    content = Content(options.least, options.most)
    node = Node(options)
    code = 0
    if options.role == "relay":
        say(f"ready {options.address}")
        sys.stdin.read()
    elif options.role == "responder":
        responder = Responder(content)
        say(f"ready {options.address} {responder.destination.hash.hex()}")
        sys.stdin.read()
        if responder.fault:
            print(responder.fault, file=sys.stderr)
            code = 1
        else:
            say(json.dumps(responder.tally.told()))
    else:
        say(json.dumps(Initiator(options, content).run()))
        sys.stdin.read()
    node.folder.cleanup()
    sys.stderr.flush()
    # What the reference does at exit takes seconds and concerns nobody here.
    os._exit(code)


# How many seconds one operation may take.
PATIENCE = 60

if __name__ == "__main__":
    main()
