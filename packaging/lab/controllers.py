"""controllers.py: the management controllers of the hosts: OpenIPMI's simulator, one for each host, at an address of its own."""
import os
import pathlib
import subprocess

from hosts import end
from namespaces import end_with_parent

HERE = pathlib.Path(__file__).resolve().parent
PORT = 623
USERNAME = "admin"
WORKAROUNDS = ("opensesspriv",)  # ipmi_sim answers with privilege 0 in the Open Session Response
AUTHENTICATIONS = "none md2 md5 straight"

CONFIGURATION = """\
name "{name}"
set_working_mc 0x20
  startlan 1
    addr {address} {port}
    priv_limit admin
    allowed_auths_callback {authentications}
    allowed_auths_user {authentications}
    allowed_auths_operator {authentications}
    allowed_auths_admin {authentications}
    guid {guid}
  endlan
  chassis_control "{program} {folder} {host}"
  user 1 false "" "" user 10 {authentications}
  user 2 true "{username}" "{password}" admin 10 {authentications}
"""

EMULATION = """\
mc_setbmc 0x20
mc_add 0x20 0 no-device-sdrs 0x23 9 8 0x9f 0x1291 0xf02 persist_sdr
sel_enable 0x20 1000 0x0a
mc_enable 0x20
"""


class Controller:
    """Its folder lies in the lab's: the name of each command goes to the pipe there."""

    def __init__(self, host, folder, network):
        self.host, self.folder = host, folder / f"bmc{host.number}"
        self.address = network.controller(host.number)
        self.password = f"secret-{host.number}"
        self.password_file = self.folder / "password"
        self.process = None

    def start(self):
        self.folder.mkdir(exist_ok=True)
        with open(os.open(self.password_file, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w") as file:
            file.write(self.password + "\n")
        (self.folder / "lan.conf").write_text(CONFIGURATION.format(
            name=self.folder.name, address=self.address, port=PORT, authentications=AUTHENTICATIONS, program=HERE / "chassis.sh",
            guid=self.host.uuid.replace("-", ""), folder=self.folder, host=self.host.name, username=USERNAME, password=self.password))
        (self.folder / "sim.emu").write_text(EMULATION)
        with open(self.folder / "log", "ab") as log:
            self.process = subprocess.Popen(["ipmi_sim", "-n", "-c", self.folder / "lan.conf", "-f", self.folder / "sim.emu", "-s",
                                             self.folder / "state"], stdin=subprocess.DEVNULL, stdout=log, stderr=log,
                                            preexec_fn=end_with_parent)

    def put_power(self, on):
        """What the controller says of the chassis."""
        self.folder.mkdir(exist_ok=True)
        fresh = self.folder / "power.new"
        fresh.write_text(f"{int(on)}\n")
        fresh.replace(self.folder / "power")

    def stop(self):
        end(self.process)
        self.process = None
