"""proxmox: a Proxmox VE cluster and its API, for tests. README.md"""
from .cluster import ACT, AUDIT, Account, Cluster  # noqa: F401
from .server import Fault, Server  # noqa: F401
