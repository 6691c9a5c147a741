#!/usr/bin/env python3
"""The files of a hub and its spokes: a key and a site file for each, ready for `accord gateway check`.

    python3 gateway/tools/hub.py accord --spokes 50 --to hub

Spoke N has the network 10.N.0.0/16 and reaches all others through the hub, whose network is 10.0.0.0/16.
On one machine for all keys this is an example. In earnest each site makes its own key.
"""

import argparse
import subprocess
from pathlib import Path

HUB = """# The hub: it knows no addresses of its spokes, which call it.
[gateway]
key = "hub.key"
listen = "[::]:51820"
device = "hub"
address = ["10.0.0.1/32"]
uplink = "{uplink} Mbps"
status = "/run/accord-gateway-hub/status.sock"
metrics = "127.0.0.1:9586"
guard = true

# The keys that all spokes have in common.
[defaults]
cap = "{cap} Mbps"
service = {{ contract = "{contract} Mbps" }}
"""
TO_SPOKE = """
[peer.{name}]
public_key = "{key}"
networks = ["10.{number}.0.0/16"]
"""
SPOKE = """# The site {name}: all other sites are behind the hub, which has two uplinks.
[gateway]
key = "{name}.key"
listen = "[::]:51820"
device = "{name}"
address = ["10.{number}.0.1/32"]
uplink = "{cap} Mbps"
status = "/run/accord-gateway-{name}/status.sock"
guard = true

[peer.hub]
public_key = "{key}"
endpoint = ["192.0.2.1:51820", "198.51.100.1:51820"]
networks = ["10.0.0.0/8"]
cap = "{cap} Mbps"
service = {{ contract = "{contract} Mbps" }}
"""


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("program", help="the program accord")
    parser.add_argument("--spokes", type=int, default=50, help="1 to 250")
    parser.add_argument("--to", type=Path, default=Path("hub"), help="the folder of the files")
    parser.add_argument("--contract", type=int, default=5, help="of each spoke, in Mbps")
    parser.add_argument("--cap", type=int, default=20, help="of each spoke, in Mbps")
    parser.add_argument("--uplink", type=int, default=500, help="of the hub, in Mbps")
    options = parser.parse_args()
    if not 1 <= options.spokes <= 250:
        parser.error("--spokes has to be from 1 to 250")
    options.to.mkdir(parents=True, exist_ok=True)
    program = Path(options.program)
    program = program.resolve() if program.exists() else program

    def key(name):
        command = [program, "gateway", "keys", f"{name}.key"]
        made = subprocess.run(command, cwd=options.to, capture_output=True, text=True, check=True)
        return made.stdout.strip()

    rates = {"contract": options.contract, "cap": options.cap, "uplink": options.uplink}
    hub, own = HUB.format(**rates), key("hub")
    for number in range(1, options.spokes + 1):
        name = f"site{number}"
        hub += TO_SPOKE.format(name=name, number=number, key=key(name))
        spoke = SPOKE.format(name=name, number=number, key=own, **rates)
        (options.to / f"{name}.toml").write_text(spoke)
    (options.to / "hub.toml").write_text(hub)
    print(f"{options.to}: the files of a hub and {options.spokes} spokes")


if __name__ == "__main__":
    main()
