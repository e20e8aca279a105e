"""machine.py: the hardware UUIDs of a simulated cluster's hosts, for the controllers of a test."""

MASK = (1 << 64) - 1


def fnv_1a(text):
    h = 0xcbf29ce484222325
    for byte in text.encode():
        h = (h ^ byte) * 0x100000001b3 & MASK
    return h


def hardware_uuid(host):
    """What the inventory says of the host with that id: src/sim/fake_cluster/plugin.c makes it."""
    h = f"{fnv_1a(host):016x}{fnv_1a(host + '/2'):016x}"
    return f"{h[:8]}-{h[8:12]}-{h[12:16]}-{h[16:20]}-{h[20:]}"
