"""pyghmi_bmc.py: a controller made with pyghmi, for features that ipmi_sim lacks: cipher suite 17, and DCMI's power meter.

    /usr/bin/python3 pyghmi_bmc.py 3|17 PASSWORD

Prints its port, then each chassis command; ends when its standard input closes.

pyghmi's own server implements suite 3; this file adds suite 17 (IPMI 2.0 with HMAC-SHA256, 13.28) with pyghmi's parser, its
encryption and its client's half of the same handshake. The user is "admin". Lines on standard input: "watts N" (N < 0: no reading).
"""
import hashlib
import hmac
import os
import struct
import sys
import threading

import pyghmi.ipmi.bmc as bmc
import pyghmi.ipmi.private.constants as constants
import pyghmi.ipmi.private.serversession as serversession
from pyghmi.ipmi.private.session import Session

import ports

ALGORITHMS = {1: (1, 1, 1), 3: (3, 4, 1)}  # authentication -> authentication, integrity, confidentiality


class Session17(serversession.ServerSession):
    """The handshake as pyghmi's client expects it with SHA-256."""

    def create_open_session_response(self, request):
        self.clientsessionid = request[4:8]
        self.managedsessionid = os.urandom(4)
        self.privlevel = 4
        self.currhashlib, self.currhashlen = hashlib.sha256, 16
        asked = request[12], request[20], request[28]
        if asked != ALGORITHMS[3]:
            return bytearray([request[0], 0x11, 0, 0]) + self.clientsessionid  # no such cipher suite
        return (bytearray([request[0], 0, self.privlevel, 0]) + self.clientsessionid + self.managedsessionid
                + b"".join(bytes([kind, 0, 0, 8, algorithm, 0, 0, 0]) for kind, algorithm in enumerate(asked)))

    def digest(self, key, *parts):
        return hmac.new(key, b"".join(bytes(p) for p in parts), self.currhashlib).digest()

    def who(self):
        return struct.pack("2B", self.rolem, len(self.username)) + self.username

    def _got_rakp1(self, data):
        self.Rm, self.rolem, self.maxpriv = data[8:24], data[24], data[24] & 7
        self.username = bytes(data[28:])
        password = self.authdata.get(self.username.decode())
        if password is None:
            payload = bytearray([data[0], 0x0d, 0, 0]) + self.clientsessionid  # unauthorized name
        else:
            self.Rc, self.uuiddata, self.kuid = os.urandom(16), self.uuid.bytes, password.encode()
            payload = (bytearray([data[0], 0, 0, 0]) + self.clientsessionid + self.Rc + self.uuiddata
                       + self.digest(self.kuid, self.clientsessionid, self.managedsessionid, self.Rm, self.Rc,
                                     self.uuiddata, self.who()))
        self.send_payload(payload, constants.payload_types["rakp2"], retry=False)

    def _got_rakp3(self, data):
        if data[1] != 0:
            return
        if self.digest(self.kuid, self.Rc, self.clientsessionid, self.who()) != bytes(data[8:]):
            self.send_payload(bytearray([data[0], 0x0f, 0, 0]) + self.clientsessionid, constants.payload_types["rakp4"],
                              retry=False)
            return
        self.sik = self.digest(self.kuid, self.Rm, self.Rc, self.who())
        self.k1, self.k2 = (self.digest(self.sik, bytes([i]) * 20) for i in (1, 2))
        self.aeskey = self.k2[:16]
        self.localsid = struct.unpack("<I", self.managedsessionid)[0]
        self.ipmicallback = self.handle_client_request
        self._send_rakp4(data[0], 0)

    def _send_rakp4(self, tagvalue, statuscode):
        check = self.digest(self.sik, self.Rm, self.managedsessionid, self.uuiddata)[:16]
        self.send_payload(bytearray([tagvalue, statuscode, 0, 0]) + self.clientsessionid + check,
                          constants.payload_types["rakp4"], retry=False)
        self.confalgo, self.integrityalgo, self.sequencenumber = "aes", "sha256", 1
        self.sessionid = struct.unpack("<I", bytes(self.clientsessionid))[0]


class Controller(bmc.Bmc):
    on, watts = False, 123

    def get_power_state(self):
        return "on" if self.on else "off"

    def switch(self, what, on):
        print(what, flush=True)
        self.on = on

    def power_on(self):
        self.switch("power 1", True)

    def power_off(self):
        self.switch("power 0", False)

    def power_shutdown(self):
        self.switch("shutdown 1", False)

    def handle_raw_request(self, request, session):
        if (request["netfn"], request["command"]) != (0x2c, 2):
            super().handle_raw_request(request, session)
        elif bytes(request["data"][:2]) != b"\xdc\x01":
            session.send_ipmi_response(code=0xcc)
        else:
            now = max(self.watts, 0)
            reading = struct.pack("<BHHHHIIB", 0xdc, now, now, now, now, 0, 1000, 0x40 if self.watts >= 0 else 0)
            session.send_ipmi_response(data=list(reading))


def obey(controller):
    for line in sys.stdin:
        words = line.split()
        if words[:1] == ["watts"]:
            controller.watts = int(words[1])
    os._exit(0)


def main():
    if sys.argv[1] == "17":
        serversession.ServerSession = Session17
    controller = Controller({"admin": sys.argv[2]}, port=ports.take(), address="127.0.0.1")
    print(controller.port, flush=True)
    threading.Thread(target=obey, args=(controller,), daemon=True).start()
    while True:
        Session.wait_for_rsp(1)


if __name__ == "__main__":
    main()
