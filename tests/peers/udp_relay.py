"""udp_relay.py: relays between a client and a controller, and injects faults on demand.

    with UdpRelay(controller.port) as relay:
        relay.address                 # address for the client
        relay.drop_every = 3          # drops every third packet, in both directions
        relay.delay_s = 0.5           # delay of answers
        relay.mute = True             # drops all packets
        relay.mangle = function       # bytes of an answer -> bytes, or None to lose it, or a list to send several
        relay.asked, relay.answered   # packets received from either side
"""
import heapq
import itertools
import selectors
import socket
import threading
import time

import ports


class UdpRelay:
    def __init__(self, port, address="127.0.0.1"):
        self.front = socket.socket(socket.AF_INET6 if ":" in address else socket.AF_INET, socket.SOCK_DGRAM)
        self.front.bind((address, ports.take()))
        self.port = self.front.getsockname()[1]
        self.target = ("127.0.0.1", port)
        self.drop_every, self.delay_s, self.mute, self.mangle = 0, 0.0, False, None
        self.asked = self.answered = 0
        self.packets = 0
        self.late = []
        self.order = itertools.count()
        self.selector = selectors.DefaultSelector()
        self.selector.register(self.front, selectors.EVENT_READ, None)
        self.backs = {}
        self.ended = threading.Event()
        self.thread = threading.Thread(target=self._run, daemon=True)
        self.thread.start()

    @property
    def address(self):
        host = self.front.getsockname()[0]
        return f"[{host}]:{self.port}" if ":" in host else f"{host}:{self.port}"

    def _lost(self):
        self.packets += 1
        return self.mute or bool(self.drop_every and self.packets % self.drop_every == 0)

    def _back(self, client):
        """The socket by which this client's packets go on; its answers come back there."""
        if client not in self.backs:
            self.backs[client] = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
            self.backs[client].connect(self.target)
            self.selector.register(self.backs[client], selectors.EVENT_READ, client)
        return self.backs[client]

    def _answer(self, data, client):
        self.answered += 1
        if self._lost():
            return
        answers = self.mangle(data) if self.mangle else data
        for answer in answers if isinstance(answers, list) else [answers]:
            if answer is not None:
                heapq.heappush(self.late, (time.monotonic() + self.delay_s, next(self.order), answer, client))

    def _take(self, key):
        try:
            data, sender = key.fileobj.recvfrom(65536)
        except ConnectionRefusedError:
            return
        if key.data is not None:
            self._answer(data, key.data)
            return
        self.asked += 1
        if not self._lost():
            try:
                self._back(sender).send(data)
            except ConnectionRefusedError:
                pass

    def _run(self):
        while not self.ended.is_set():
            for key, _ in self.selector.select(0.01):
                self._take(key)
            while self.late and self.late[0][0] <= time.monotonic():
                _, _, data, client = heapq.heappop(self.late)
                self.front.sendto(data, client)

    def close(self):
        self.ended.set()
        self.thread.join(10)
        for s in (self.front, *self.backs.values()):
            s.close()
        self.selector.close()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()
