"""PyPI lxmf: sends and receives LXMF messages, behind the line protocol of Iolite's interop tests.

The first argument is the folder with the node's configuration.
"""

import os
import sys

import rns_lines as lines
from rns_lines import digits, tell

import LXMF
import RNS

METHODS = {
    "opportunistic": LXMF.LXMessage.OPPORTUNISTIC,
    "direct": LXMF.LXMessage.DIRECT,
}


class Commands:
    """What a test can have this program do."""

    def __init__(self, folder):
        self.router = LXMF.LXMRouter(storagepath=os.path.join(folder, "lxmf"))
        self.source = self.router.register_delivery_identity(RNS.Identity(), display_name="Iolite")
        self.router.register_delivery_callback(self.on_message)

    def on_message(self, message):
        tell(
            "message",
            source=digits(message.source_hash),
            title=message.title_as_string(),
            content=message.content_as_string(),
            signed=message.signature_validated,
        )

    def do_address(self):
        return digits(self.source.hash)

    def do_announce(self):
        self.router.announce(self.source.hash)

    def do_knows(self, address):
        return RNS.Transport.has_path(bytes.fromhex(address))

    def do_send(self, address, title, content, method):
        identity = RNS.Identity.recall(bytes.fromhex(address))
        to = RNS.Destination(identity, RNS.Destination.OUT, RNS.Destination.SINGLE, "lxmf", "delivery")
        message = LXMF.LXMessage(to, self.source, content, title, desired_method=METHODS[method])
        message.register_delivery_callback(lambda _: tell("delivered", title=title))
        message.register_failed_callback(lambda _: tell("failed", title=title))
        self.router.handle_outbound(message)


def main():
    folder = sys.argv[1]
    RNS.Reticulum(configdir=folder)
    commands = Commands(folder)
    tell("ready", transport=None)
    lines.obey(commands)
    RNS.exit()


main()
