"""wol_listener.py: the network cards of sleeping hosts, on loopback: receives magic packets sent as UDP broadcasts.

    with WolListener({"02:00:00:00:00:01": woken}) as ears:
        ears.broadcast, ears.port        # for `wol:`
        ears.heard                       # [(seconds since the epoch, mac), ...]

woken(mac) is called, in a thread of the listener, for each packet that wakes that card: there a test turns its simulated host
on. A card with a SecureOn password is (woken, "00:11:22:33:44:55"), and accepts only packets that end with the password.
"""
import re
import socket
import threading
import time


def hears(packet, mac, secureon):
    """As a card looks at a frame: the pattern may be anywhere, the password stands right behind it."""
    card = re.escape(bytes.fromhex(mac.replace(":", "")))
    password = re.escape(bytes.fromhex(secureon.replace(":", ""))) if secureon else b""
    return re.search(rb"\xff{6}(?:" + card + rb"){16}" + password, packet, re.DOTALL) is not None


class WolListener:
    def __init__(self, cards):
        self.cards = {mac: card if isinstance(card, tuple) else (card, None) for mac, card in cards.items()}
        self.broadcast = "127.255.255.255"
        self.heard = []
        self.socket = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self.socket.bind((self.broadcast, 0))
        self.socket.settimeout(0.2)
        self.port = self.socket.getsockname()[1]
        self.over = threading.Event()
        self.thread = threading.Thread(target=self._run, daemon=True)
        self.thread.start()

    def _run(self):
        while not self.over.is_set():
            try:
                packet = self.socket.recv(2048)
            except TimeoutError:
                continue
            for mac, (woken, secureon) in self.cards.items():
                if hears(packet, mac, secureon):
                    self.heard.append((time.time(), mac))
                    woken(mac)

    def close(self):
        self.over.set()
        self.thread.join(timeout=10)
        self.socket.close()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()
