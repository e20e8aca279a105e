"""terminal.py: terminals in which a journey types the README's lines, and the machines that they are on.

    with Tree(SOURCE, BUILD) as machine:            # a checkout that is built; Debian(folder, place): one with the packages, by chroot
        t = machine.terminal()                      # of an ordinary user; machine.terminal("root")
        t.type("export A=b")                        # stays for the lines after it
        t.type("ballast status", code=3)            # gives what it says, on both outputs
        t.start("ballastd --config FILE")           # in the foreground of that terminal: the journey goes on in another
        t.does("... `sudo chmod 0640 FILE` ...")    # the command between the quotes of a sentence

What differs from the README's text is replace, beside LINES_NOT_RUN of readme.py: addresses, paths, names and passwords, and -y where a person
would be asked.
"""
import os
import pathlib
import re
import shutil
import subprocess
import tempfile

CALL_S = 240
NOBODY = 65534
PATHS = {True: "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin", False: "/usr/local/bin:/usr/bin:/bin"}  # as Debian gives root and others

SYSTEMCTL = """#!/bin/sh
# systemd is not in this Debian: starts and ends the service as its unit does.
[ "$1" = enable ] && exit 0
[ -e /run/ballastd.pid ] && kill "$(cat /run/ballastd.pid)" 2>/dev/null && sleep 1
[ "$1" = stop ] && exit 0
install -d -o ballast -g ballast -m 0755 /run/ballast
install -d -o ballast -g ballast -m 0700 /var/lib/ballast
setsid setpriv --reuid ballast --regid ballast --init-groups $(sed -n 's/^ExecStart=//p' /lib/systemd/system/ballastd.service) \\
    </dev/null >>/var/log/ballastd.log 2>&1 &
echo $! >/run/ballastd.pid
for _ in $(seq 300); do
    kill -0 $! 2>/dev/null || { echo "Job for ballastd.service failed." >&2; exit 1; }
    [ -S /run/ballast/ballastd.sock ] && exit 0
    sleep 0.1
done
"""


class Machine:
    name = "user"  # of the ordinary user

    def __init__(self):
        self.dir = tempfile.TemporaryDirectory(prefix="ballast-day-", dir="/tmp")
        self.place = pathlib.Path(self.dir.name)
        self.place.chmod(0o755)
        self.running, self.replace = [], {}

    def file(self, path):
        """That path of the machine, from outside."""
        return pathlib.Path(path)

    def edit(self, path, *changes):
        """As with an editor, which keeps owner and mode."""
        text = self.file(path).read_text()
        for there, here in changes:
            assert there in text, (there, text)
            text = text.replace(there, here)
        self.file(path).write_text(text)

    def terminal(self, user="user"):
        return Terminal(self, user)

    def close(self):
        for process in self.running:
            if process.poll() is None:
                process.terminate()
        for process in self.running:
            try:
                process.wait(30)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
        self.dir.cleanup()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()


class Tree(Machine):
    """A checkout whose README was followed up to the build: what the journeys use of it, in a folder that belongs to an ordinary user."""

    def __init__(self, source, ballast, ballastd):
        super().__init__()
        self.root = self.place / "ballast"
        for program, folder in ((ballast, "cli"), (ballastd, "daemon")):
            (self.root / "build/src" / folder).mkdir(parents=True)
            shutil.copy(program, self.root / "build/src" / folder)
        shutil.copytree(source / "conf", self.root / "conf")
        self.move("/tmp/ballast-simulated", self.place / "simulated", self.root / "conf/examples/simulated.yaml")
        if os.geteuid() == 0:
            subprocess.run(["chown", "-R", f"{NOBODY}:{NOBODY}", self.place], check=True)

    def move(self, there, here, *files):
        """Another path than the README's, in its lines and in the files that have it."""
        self.replace[there] = str(here)
        for file in files:
            file.write_text(file.read_text().replace(there, str(here)))

    def command(self, user, line):
        is_root = user == "root"
        drop = [] if is_root or os.geteuid() != 0 else ["setpriv", f"--reuid={NOBODY}", f"--regid={NOBODY}", "--clear-groups"]
        return [*drop, "env", "-i", f"PATH={PATHS[is_root]}", f"HOME={self.place}", "TERM=dumb", "bash", "-c", f"cd {self.root} && {line}"]


def mount(kind, *arguments):
    subprocess.run(["mount", "-t", kind, kind, *arguments], check=True, timeout=60)


class Debian(Machine):
    """The Debian in the folder, in which what is written is this machine's own; it has an ordinary user."""

    name = "alice"

    def __init__(self, folder):
        super().__init__()
        self.root = self.place / "debian"
        for name in ("debian", "written", "work"):
            (self.place / name).mkdir()
        mount("overlay", "-o", f"lowerdir={folder},upperdir={self.place}/written,workdir={self.place}/work", self.root)
        mount("proc", self.root / "proc")
        self.prepare()

    def prepare(self):
        (self.root / "run/systemd/system").mkdir(parents=True, exist_ok=True)
        for name, text in (("systemctl", SYSTEMCTL), ("journalctl", "#!/bin/sh\ncat /var/log/ballastd.log\n")):
            (self.root / "usr/bin" / name).write_text(text)
            (self.root / "usr/bin" / name).chmod(0o755)
        self.terminal("root").type(f"useradd --create-home --shell /bin/bash {self.name}")

    def command(self, user, line):
        name, groups = ("root", []) if user == "root" else (self.name, [f"--groups={self.groups()}"])
        home = "/root" if user == "root" else f"/home/{name}"
        return ["chroot", f"--userspec={name}:{name}", *groups, self.root, "/usr/bin/env", "-i", f"PATH={PATHS[user == 'root']}", f"HOME={home}", f"USER={name}",
                "DEBIAN_FRONTEND=noninteractive", "bash", "-c", f"cd {home} && {line}"]

    def groups(self):
        """Those of the user, as a login gives them."""
        entries = [line.split(":") for line in (self.root / "etc/group").read_text().splitlines()]
        return ",".join(gid for name, _, gid, members in entries if self.name in [name, *members.split(",")])

    def file(self, path):
        return self.root / path.lstrip("/")

    def close(self):
        try:
            self.terminal("root").type("systemctl stop", code=None)
        finally:
            subprocess.run(["umount", "--lazy", self.root / "proc", self.root], check=False, timeout=60)
            super().close()


class Installation(Debian):
    """One in which the packages are to be installed."""

    def prepare(self):
        pass


class Terminal:
    def __init__(self, machine, user):
        self.machine, self.user, self.exports = machine, user, []

    def words(self, line):
        """The command of the machine for a line of the README, as it is replaced; `sudo` makes it root's."""
        for there, here in self.machine.replace.items():
            line = line.replace(there, here)
        user = "root" if re.match(r"\s*sudo ", line) else self.user
        line = re.sub(r"\bsudo ", "", line).replace("$USER", self.machine.name) if user == "root" else line
        return self.machine.command(user, "\n".join([*self.exports, line]))

    def type(self, line, stdin="", code=0):
        if line.startswith("export "):
            for there, here in self.machine.replace.items():
                line = line.replace(there, here)
            self.exports.append(line)
            return ""
        if re.match(r"(sudo )?ballastd ", line) and code == 0:
            return self.start(line)
        done = subprocess.run(self.words(line), input=stdin, capture_output=True, text=True, timeout=CALL_S, check=False)
        assert code in (None, done.returncode), f"{line}: exit code {done.returncode}\n{done.stdout}{done.stderr}"
        return done.stdout + done.stderr

    def start(self, line):
        log = open(self.machine.place / "foreground.log", "a", encoding="utf-8")
        self.machine.running.append(subprocess.Popen(self.words("exec " + line), stdin=subprocess.DEVNULL, stdout=log, stderr=log))
        return ""

    def does(self, sentence):
        """The command that the sentence gives between quotes."""
        return self.type(re.search(r"`((?:sudo )?[a-z]+ [^`]*)`", sentence)[1])
