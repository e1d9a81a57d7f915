"""Python's clients as contenders of `bench conn`: requests, websocket-client, and the standard library's socket.

The command line and the line of JSON at the end are those of `bench_peer::conn`. Without --peer, messages are echoed by
Python in another thread (`peer.py`).
"""

import argparse
import json
import resource
import sys
import time

import clients
import peer

# How many bytes are compared in an echo that is measured.
LAST_BYTES = 8
MASK = (1 << 64) - 1


def message_of(size):
    state = 0x9E3779B97F4A7C15
    words = []
    for _ in range(-(-size // 8)):
        state ^= (state << 13) & MASK
        state ^= state >> 7
        state ^= (state << 17) & MASK
        words.append(state.to_bytes(8, "little"))
    return b"".join(words)[:size]


class Course:
    """One exchange after the other, first to warm up, then measured."""

    def __init__(self, options):
        self.message = message_of(options.size)
        self.warmup = options.warmup_ms / 1e3
        self.time = options.time_ms / 1e3

    def run(self, exchange, gauge):
        message, now = self.message, time.perf_counter
        warm_at = now() + self.warmup
        while now() < warm_at:
            if bytes(exchange(message)) != message:
                raise ValueError("something else than the message came back")
        samples = []
        add, size, tail = samples.append, len(message), message[-LAST_BYTES:]
        nanos, answers = gauge.nanos, gauge.answers
        start = last = now()
        deadline = start + self.time
        while last < deadline:
            echo = exchange(message)
            end = now()
            add(end - last)
            last = end
            if len(echo) != size or echo[-LAST_BYTES:] != tail:
                raise ValueError("something else than the message came back")
        answers = gauge.answers - answers
        cost = (gauge.nanos - nanos) / answers / 1e3 if answers else None
        return report(samples, last - start, cost)


def report(samples, seconds, server_cost):
    samples = sorted(sample * 1e6 for sample in samples)
    usage = resource.getrusage(resource.RUSAGE_SELF)

    def quantile(share):
        return samples[int(share * (len(samples) - 1))]

    return {
        "exchanges": len(samples),
        "seconds": seconds,
        "mean": seconds * 1e6 / len(samples),
        "rtt": {"p50": quantile(0.5), "p95": quantile(0.95), "p99": quantile(0.99), "max": samples[-1]},
        "server_cost": server_cost,
        "usage": {
            "peak_rss": usage.ru_maxrss * 1024,
            "user_seconds": usage.ru_utime,
            "system_seconds": usage.ru_stime,
        },
    }


def parse():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("role", choices=["client"])
    parser.add_argument("--scheme", choices=clients.SCHEMES, required=True)
    parser.add_argument("--size", type=int, required=True)
    parser.add_argument("--mode", choices=clients.MODES, required=True)
    parser.add_argument("--peer")
    parser.add_argument("--identity")
    parser.add_argument("--warmup-ms", type=int, default=100)
    parser.add_argument("--time-ms", type=int, default=1000)
    return parser.parse_args()


def main():
    options = parse()
    gauge = peer.Gauge()
    if options.peer is None:
        address = peer.start(options.scheme, options.identity, gauge)
    else:
        host, port = options.peer.rsplit(":", 1)
        address = (host, int(port))
    exchange = clients.connect(options.mode, options.scheme, address, options.identity)
    print(json.dumps(Course(options).run(exchange, gauge)), flush=True)


if __name__ == "__main__":
    sys.exit(main())
