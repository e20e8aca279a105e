"""mqtt.py: a mosquitto for a test, on a port of loopback, and a second client that subscribes.

    with Broker(tls=True) as b:
        b.start()
        with b.listen("ballast/#") as l:
            l.wait("something", lambda: l.messages)
        b.kill()                            # kill -9; start() begins again on the same port

A listener is mosquitto_sub with a user of its own. It ends with the broker and is started again with the same session, so that it
also gets the messages published meanwhile.

At the end of a test, all that the service has published is held against conf/asyncapi.json: topics, flags and the last will by the
broker's log, payloads as listeners got them.
"""
import json
import os
import pathlib
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time

import asyncapi
import ports
import schemas
from daemon import wait_for

START_S = 20
NEEDED = ("mosquitto", "mosquitto_pub", "mosquitto_sub", "mosquitto_passwd", "openssl")
os.environ["PATH"] += ":/usr/sbin"


def missing():
    return [p for p in NEEDED if not shutil.which(p)]


def openssl(*args):
    subprocess.run(["openssl", *map(str, args)], check=True, capture_output=True)


def make_ca(folder, name):
    key, crt = folder / f"{name}.key", folder / f"{name}.crt"
    openssl("req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", f"/CN={name}", "-keyout", key, "-out", crt)
    return key, crt


def sign(folder, ca, name, extension):
    key, csr, crt, ext = (folder / f"{name}.{e}" for e in ("key", "csr", "crt", "ext"))
    ext.write_text(extension)
    openssl("req", "-newkey", "rsa:2048", "-nodes", "-subj", f"/CN={name}", "-keyout", key, "-out", csr)
    openssl("x509", "-req", "-in", csr, "-CA", ca[1], "-CAkey", ca[0], "-CAcreateserial", "-days", "2", "-extfile", ext, "-out", crt)
    return key, crt


class Listener:
    """The messages of a subscription, in order. The constructor returns once the broker has acknowledged it."""

    def __init__(self, broker, topic, user="viewer", session=True):
        self.messages = []
        self.lock = threading.Lock()
        keep = ["-c", "-x", "3600"] if session else []
        self.broker = broker
        name = f"listener-{os.getpid()}-{id(self)}"
        self.command = ["mosquitto_sub", *broker.client(user), "-V", "mqttv5", "-i", name, *keep, "-q", "1", "-t", topic, "-F", "%j"]
        self.over = False
        acknowledged = broker.acknowledged(name)
        self.process = self.begin()
        wait_for("the subscription is acknowledged", lambda: broker.acknowledged(name) > acknowledged, START_S, 0.05)
        self.thread = threading.Thread(target=self.read, daemon=True)
        self.thread.start()

    def begin(self):
        return subprocess.Popen(self.command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)

    def read(self):
        while True:
            for line in self.process.stdout:
                m = json.loads(line)
                with self.lock:
                    self.messages.append(m)
            time.sleep(0.2)
            with self.lock:
                if self.over:
                    return
                self.process.wait()
                self.process = self.begin()

    def seen(self):
        with self.lock:
            return list(self.messages)

    def on(self, topic):
        with self.lock:
            return [m for m in self.messages if m["topic"] == topic]

    def events(self):
        """The CloudEvents below events/, decoded, in the order of arrival."""
        with self.lock:
            return [payload(m) for m in self.messages if "/events/" in m["topic"]]

    def __enter__(self):
        return self

    def __exit__(self, *_):
        with self.lock:
            self.over = True
            self.process.kill()
            self.process.wait()
        self.thread.join(60)
        document = self.broker.document()
        theirs = {topic for _, topic, _, _ in self.broker.published()}
        for message in self.messages:
            check_schema(message)
            if message["topic"] in theirs:
                document.check_message(message)


def check_schema(message):
    event = payload(message)
    if not isinstance(event, dict) or not str(event.get("type")).startswith("io.ballast."):
        return
    kind = {"io.ballast.state": "cluster_state", "io.ballast.host.state": "host_state"}.get(event["type"])
    schemas.check_event(kind or message["topic"].rsplit("/", 1)[1], event["data"])


def payload(message):
    p = message.get("payload")
    return json.loads(p) if isinstance(p, str) and p.startswith("{") else p


class Broker:
    def __init__(self, tls=True, acl="readwrite", persistence=True):
        self.dir = tempfile.TemporaryDirectory(prefix="ballast-mqtt-")
        self.folder = pathlib.Path(self.dir.name)
        self.port = ports.take()
        self.tls = tls
        self.tops, self.prefixes = {"ballast"}, {"homeassistant"}
        self.process = None
        self.log = self.folder / "log"
        self.ca = make_ca(self.folder, "ca")
        self.key, self.crt = sign(self.folder, self.ca, "server", "subjectAltName=DNS:localhost,IP:127.0.0.1\n")
        passwords = self.folder / "passwords"
        for i, (user, password) in enumerate((("ballast", "a secret"), ("viewer", "another"), ("operator", "another"), ("guest", "another"))):
            subprocess.run(["mosquitto_passwd", *(["-c"] if i == 0 else []), "-b", str(passwords), user, password], check=True,
                           capture_output=True)
        self.acl = self.folder / "acl"
        self.allow(f"topic {acl} ballast/#")
        lines = [f"listener {self.port} 127.0.0.1", "allow_anonymous false", f"password_file {passwords}", f"acl_file {self.acl}",
                 *(["persistence true", f"persistence_location {self.folder}/", "autosave_interval 1", "autosave_on_changes true"]
                   if persistence else []),
                 f"log_dest file {self.log}", "log_type all", "max_queued_messages 100000"]
        if os.getuid() == 0:
            lines.append("user root")
        if tls:
            lines += [f"cafile {self.ca[1]}", f"certfile {self.crt}", f"keyfile {self.key}"]
        (self.folder / "mosquitto.conf").write_text("\n".join(lines) + "\n")

    def allow(self, rule):
        self.acl.write_text(f"user ballast\n{rule}\nuser viewer\ntopic read #\nuser operator\ntopic readwrite #\n"
                            "user guest\ntopic write ballast/+/cmd/pause\n")

    def settings(self, **changes):
        """What ballastd needs to know of it."""
        file = self.folder / "ballast.password"
        file.write_text("a secret\n")
        file.chmod(0o600)
        mqtt = {"url": f"{'mqtts' if self.tls else 'mqtt'}://localhost:{self.port}", "username": "ballast", "password_file": str(file)}
        if self.tls:
            mqtt["ca_file"] = str(self.ca[1])
        self.tops.add(changes.get("topic", "ballast"))
        if isinstance(changes.get("home_assistant"), str):
            self.prefixes.add(changes["home_assistant"])
        return {k: v for k, v in {**mqtt, **changes}.items() if v is not None}

    def client(self, user):
        tls = ["--cafile", str(self.ca[1])] if self.tls else []
        return ["-h", "localhost", "-p", str(self.port), "-u", user, "-P", "another", *tls]

    def start(self):
        self.process = subprocess.Popen(["mosquitto", "-c", str(self.folder / "mosquitto.conf")], stdin=subprocess.DEVNULL,
                                        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)

        def accepts():
            if self.process.poll() is not None:
                raise AssertionError(f"mosquitto ended with {self.process.returncode}")
            try:
                socket.create_connection(("127.0.0.1", self.port), 1).close()
                return True
            except OSError:
                return False

        wait_for("the broker accepts", accepts, START_S, 0.05)
        return self

    def kill(self):
        self.process.kill()
        self.process.wait()
        self.process = None

    def publish(self, topic, payload="", *options, user="operator", qos=1):
        """payload: text, or what is to be JSON. The broker has confirmed the message when this returns."""
        text = payload if isinstance(payload, (str, bytes)) else json.dumps(payload)
        body = ["-s"] if text else ["-n"]
        subprocess.run(["mosquitto_pub", *self.client(user), "-V", "mqttv5", "-q", str(qos), "-t", topic, *body, *options],
                       input=text.encode() if isinstance(text, str) else text, check=True, stdout=subprocess.DEVNULL, timeout=60)

    def hang(self):
        self.process.send_signal(signal.SIGSTOP)

    def go_on(self):
        self.process.send_signal(signal.SIGCONT)

    def received(self, topic):
        """How many messages clients have published below the topic, by the broker's own log."""
        return self.logged(rf"Received PUBLISH from \S+ \([^']*'{re.escape(topic)}/")

    def acknowledged(self, client):
        """How many subscriptions of the client the broker has acknowledged."""
        return self.logged(rf"Sending SUBACK to {re.escape(client)}\b")

    def logged(self, pattern):
        return len(re.findall(pattern, self.text()))

    def text(self):
        return self.log.read_text(errors="replace") if self.log.exists() else ""

    def published(self):
        """(what, topic, QoS, retain) of all that clients with the service's user have published, and of their last wills."""
        text = self.text()
        clients = re.findall(r"New client connected from \S+ as (\S+) \(p5, c1, k\d+, u'ballast'\)", text)
        messages = re.findall(rf"Received PUBLISH from (?:{'|'.join(map(re.escape, set(clients)))}) \(d\d, q(\d), r(\d), m\d+, '(.*)', \.\.\. ", text)
        wills = re.findall(r"Will message specified \(\d+ bytes\) \(r(\d), q(\d)\)\.\n\d+: \t(.*)\n", text)
        return {("message", topic, int(qos), retain == "1") for qos, retain, topic in messages if clients} \
            | {("will", topic, int(qos), retain == "1") for retain, qos, topic in wills}

    def document(self):
        return asyncapi.Document(self.tops, self.prefixes)

    def check_published(self):
        document = self.document()
        for what, topic, qos, retain in self.published():
            (document.check_will if what == "will" else document.check_published)(topic, qos, retain)

    def listen(self, topic, **options):
        return Listener(self, topic, **options)

    def __enter__(self):
        return self

    def __exit__(self, kind, *_):
        if self.process:
            self.process.kill()
            self.process.wait()
        if kind:
            print(f"--- the broker's log\n{self.text()[-4000:]}", file=sys.stderr)
        try:
            if not kind:
                self.check_published()
        finally:
            self.dir.cleanup()
