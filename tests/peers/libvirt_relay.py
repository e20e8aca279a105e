"""libvirt_relay.py: between a client and a libvirtd that asks for no login, over TCP: holds single calls of libvirt's protocol back, or ends the
connection at one. Keepalive passes, so neither side notices.

    with LibvirtRelay(lab.uri("hv2")) as relay:
        relay.uri                            # for the client
        relay.held = {LibvirtRelay.LOOKUP}   # calls that are not answered; they go on when the set is changed
        relay.cut = LibvirtRelay.CONFIRM     # the connection on which this call is made ends, and the call does not arrive
"""
import contextlib
import socket
import struct
import threading
import time

PORT = 16509
REMOTE = 0x20008086  # the program; keepalive is another one
HEADER = struct.Struct(">IIIIII")  # length, program, version, procedure, type, serial


class LibvirtRelay:
    # procedures of libvirt's remote_protocol.x, which never change
    LOOKUP, CONFIRM, COMPARE_CPU = 24, 307, 393

    def __init__(self, uri):
        self.target = (uri.split("/")[2], PORT)
        self.listener = socket.create_server(("127.0.0.1", 0), backlog=64)
        self.uri = f"qemu+tcp://127.0.0.1:{self.listener.getsockname()[1]}/system"
        self.held, self.cut, self.cuts, self.seen = set(), None, 0, set()
        self.sockets = []
        threading.Thread(target=self._accept, daemon=True).start()

    def _accept(self):
        with contextlib.suppress(OSError):
            while True:
                near, _ = self.listener.accept()
                far = socket.create_connection(self.target)
                self.sockets += [near, far]
                threading.Thread(target=self._calls, args=(near, far), daemon=True).start()
                threading.Thread(target=self._answers, args=(far, near), daemon=True).start()

    def _calls(self, near, far):
        data, waiting = b"", []
        near.settimeout(0.2)
        with contextlib.suppress(OSError):
            while True:
                waiting = [w for w in waiting if w[0] in self.held or far.sendall(w[1])]
                try:
                    piece = near.recv(65536)
                except TimeoutError:
                    continue
                if not piece:
                    break
                data += piece
                while len(data) >= HEADER.size and len(data) >= struct.unpack_from(">I", data)[0]:
                    length, program, _, procedure, _, _ = HEADER.unpack_from(data)
                    call, data = data[:length], data[length:]
                    if program == REMOTE:
                        self.seen.add(procedure)
                        if procedure == self.cut:
                            self.cuts += 1
                            raise ConnectionAbortedError
                        if procedure in self.held:
                            waiting.append((procedure, call))
                            continue
                    far.sendall(call)
        self._end(near, far)

    def _answers(self, far, near):
        with contextlib.suppress(OSError):
            while data := far.recv(65536):
                near.sendall(data)
        self._end(near, far)

    def _end(self, *ends):
        for end in ends:
            with contextlib.suppress(OSError):
                end.shutdown(socket.SHUT_RDWR)

    def wait_for_call(self, procedure, seconds=60):
        until = time.monotonic() + seconds
        while procedure not in self.seen and time.monotonic() < until:
            time.sleep(0.05)
        assert procedure in self.seen, f"no call of procedure {procedure}: {sorted(self.seen)}"

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.listener.close()
        self._end(*self.sockets)
        for each in self.sockets:
            each.close()
