"""The line protocol between a test and a Reticulum program: one JSON object a line.

Commands come on standard input; each is answered in order by one line with `answer` or `error`. Events are lines with
`event`, at any time. What the reference logs goes to standard error.
"""

import hashlib
import json
import os
import sys
import threading

# The reference prints its log to standard output, which here belongs to the line protocol.
OUT = os.fdopen(os.dup(1), "w")
os.dup2(2, 1)
LOCK = threading.Lock()


def write(line):
    with LOCK:
        OUT.write(json.dumps(line) + "\n")
        OUT.flush()


def tell(event, **fields):
    write({"event": event, **fields})


def digits(data):
    return None if data is None else bytes(data).hex()


def fingerprint(data):
    """What is told of contents that may be long."""
    return {"len": len(data), "sha256": hashlib.sha256(data).hexdigest()}


def content(wanted):
    """The contents that `seed`, `len` and `compressible` stand for: SHA-256 of the seed and a counter, in a row.

    Each block of compressible contents repeats the first byte of the hash.
    """
    seed = wanted["seed"].to_bytes(8, "big")
    blocks = []
    for counter in range(-(-wanted["len"] // 32)):
        block = hashlib.sha256(seed + counter.to_bytes(8, "big")).digest()
        blocks.append(block[:1] * 32 if wanted["compressible"] else block)
    return b"".join(blocks)[: wanted["len"]]


def obey(commands):
    """Answers the commands on standard input with the methods of `commands` until there are no more."""
    for line in sys.stdin:
        command = json.loads(line)
        name = command.pop("do")
        if name == "exit":
            break
        try:
            write({"answer": getattr(commands, "do_" + name)(**command)})
        except Exception as error:
            write({"error": f"{name}: {type(error).__name__}: {error}"})
