"""Measures what three contracts are worth alongside the kernel's own flows, for several ways to join sites.

    sudo python3 gateway/tools/matrix.py target/release/accord [--systems gateway,wireguard] [--rounds 3]

Contracts of 10, 5 and 0 Mbps and weights of 1, 2 and 1 over 30 Mbps and 20 ms, with one FIFO queue. `--round-trips
5,20,60,150` and `--buffers 0.3,1,4,10` make the grid of gateway/tools/packets.py. `--outside` also has "12 Mbps"
(a constant rate), "1 % loss" and "both ways" (sites send in both directions, and the lesser rate counts). Four CUBIC
connections go through each tunnel, and others alongside them. Rates are TCP payload in Mbps, medians of the rounds.
A contract of 10 Mbps on the wire has 9.24 Mbps of payload. `--systems`:

    gateway     accord gateway, with a limit of 250 ms per contract unless --limit has another
    wireguard   wireguard-go
    right       wireguard-go behind HTB with a rate per contract, and 28.5 Mbps for all: what the link carries
    low         the same with 15 Mbps
    high        the same with 60 Mbps
    autorate    the same with the rate that gateway/tools/autorate.py finds, from 15 to 28.5 Mbps

Prints a table as Markdown. `--csv FILE` also appends the kept parts of the contracts to a file, of which the book's
table is made (crates/cli/tests/gateway_table.rs).
"""

import argparse
import csv
import itertools
import os
import pathlib
import statistics

import sites
from crossing import HERE, PRIORITY, SITES, THERE, UNIT, Crossing, inner
from speed import wireguard_go

MBPS = 30
CONTRACTS, WEIGHTS = (10, 5, 0), (1, 2, 1)
# The payload of a packet over its size on the wire.
PAYLOAD = 1368 / 1480
CEILINGS = {"right": 28.5, "low": 15, "high": 60, "autorate": 20}


def gateways(crossing, program, options):
    """Starts a pair of gateways per site."""
    sides = {1: (0, HERE), 2: (1, THERE)}
    keys = {
        (side, site): sites.run(program, "gateway", "keys", crossing.folder / f"{side}{site}.key").strip()
        for side in sides for site in SITES
    }
    for site, contract, weight in zip(SITES, CONTRACTS, WEIGHTS):
        bound = f', limit = "{options.limit}"' if contract and options.limit else ""
        for side, (end, address) in sides.items():
            other = 3 - side
            file = crossing.folder / f"{side}{site}.toml"
            file.write_text(
                f'[gateway]\nkey = "{side}{site}.key"\nlisten = "{address}:{51820 + site}"\ndevice = "gw{site}"\n'
                f'address = ["{inner(side, site)}/24"]\ntarget = "{options.target}"\nstatus = "{side}{site}.sock"\n'
                f'[peer.other]\npublic_key = "{keys[other, site]}"\n'
                f'endpoint = "{sides[other][1]}:{51820 + site}"\nnetworks = ["10.{other}.{site}.0/24"]\n'
                f'cap = "50 Mbps"\nbreaker = {{ loss = {options.breaker} }}\nservice = {{ contract = "{contract} Mbps", weight = {weight}{bound} }}\n'
            )
            log = open(file.with_suffix(".log"), "w")
            crossing.start(end, *UNIT, program, "gateway", "run", file, stderr=log)
    states = lambda: [
        peer["state"] for side in sides for site in SITES for peer in crossing.status(program, f"{side}{site}")
    ]
    crossing.wait(lambda: states() == ["controlled"] * 6, "the gateways do not join")


def wireguards(crossing, program):
    """Starts a pair of wireguard-go per site."""
    sides = {1: (0, HERE), 2: (1, THERE)}
    for site in SITES:
        keys = {side: sites.run("wg", "genkey").strip() for side in sides}
        publics = {side: sites.run("wg", "pubkey", input=key).strip() for side, key in keys.items()}
        for side, (end, address) in sides.items():
            other = 3 - side
            # The name is that of a socket in /var/run, too, which has no namespace.
            device = f"{crossing.prefix}{side}{site}"
            env = {**os.environ, "LOG_LEVEL": "error"}
            crossing.start(end, *PRIORITY, program, "-f", device, env=env)
            there = pathlib.Path(f"/var/run/wireguard/{device}.sock").exists
            crossing.wait(there, f"{program} does not start")
            key = crossing.folder / device
            key.write_text(keys[side])
            crossing.at(
                end, "wg", "set", device, "private-key", key, "listen-port", 51820 + site, "peer", publics[other],
                "endpoint", f"{sides[other][1]}:{51820 + site}", "allowed-ips", f"10.{other}.{site}.0/24",
            )
            crossing.at(end, "ip", "address", "add", f"{inner(side, site)}/24", "dev", device)
            crossing.at(end, "ip", "link", "set", device, "mtu", 1420, "up")
            crossing.at(end, "ip", "route", "add", f"10.{other}.{site}.0/24", "dev", device)


def run(options, system, alongside, round_trip, buffer, seconds):
    count, _, congestion = alongside.partition(" ")
    flows = congestion in ("cubic", "bbr", "Mbps")
    outside, congestion = (int(count), congestion) if flows else (0, "cubic")
    limit = max(1600, round(buffer * MBPS * 1e6 / 8 * round_trip / 1e3))
    loss = 0.01 if alongside == "1 % loss" else 0.0
    with Crossing(MBPS, limit, round_trip / 2e3, loss, alongside == "both ways") as crossing:
        if system == "gateway":
            gateways(crossing, options.accord, options)
        else:
            wireguards(crossing, wireguard_go())
        if system in CEILINGS:
            crossing.shaped([max(c, 0.5) for c in CONTRACTS], CEILINGS[system], WEIGHTS)
        if system == "autorate":
            crossing.role(1, "echo")
            crossing.role(0, "autorate", 15, CEILINGS[system], 28.5)
        return crossing.measure(outside, congestion, options.settle, seconds)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("accord")
    parser.add_argument("--systems", default="gateway,wireguard")
    parser.add_argument("--outside", default="1 cubic,2 cubic,4 cubic,8 cubic,1 bbr")
    parser.add_argument("--buffers", default="0.5,1.3,3", help="in products of rate and round trip")
    parser.add_argument("--round-trips", default="20", help="in ms")
    parser.add_argument("--rounds", type=int, default=1)
    parser.add_argument("--seconds", type=int, default=10)
    parser.add_argument("--settle", type=int, default=5, help="the seconds that do not count")
    parser.add_argument("--limit", default="250 ms")
    parser.add_argument("--target", default="3 pkt", help="the accumulation of a tunnel of weight 1")
    parser.add_argument("--csv", type=pathlib.Path, help="a file to append to")
    parser.add_argument("--breaker", type=float, default=0.25, help="the lost part that trips the circuit breaker")
    options = parser.parse_args()
    sites.need("ip", "tc", "ping", "nice", "chrt")
    systems = options.systems.split(",")
    if systems != ["gateway"]:
        sites.need("wg")
    heads = ["round trip", "alongside", "buffer", "system", "site 1", "site 2", "site 3", "outside", "contract 1", "contract 2", "ping, ms"]
    print(f"| {' | '.join(heads)} |\n|{'---|' * len(heads)}", flush=True)
    grid = itertools.product(
        map(float, options.round_trips.split(",")), options.outside.split(","), map(float, options.buffers.split(",")), systems
    )
    for round_trip, alongside, buffer, system in grid:
        runs = [run(options, system, alongside, round_trip, buffer, options.seconds) for _ in range(options.rounds)]
        *rates, outside, ping = map(statistics.median, zip(*runs))
        kept = [f"{100 * r / (c * PAYLOAD):.0f}" for r, c in zip(rates, CONTRACTS) if c]
        if options.csv:
            begins = not options.csv.exists()
            with options.csv.open("a", newline="") as file:
                table = csv.writer(file, lineterminator="\n")
                if begins:
                    table.writerow(["round_trip_ms", "alongside", "buffer_bdp", "system", "kept_1", "kept_2", "rounds"])
                table.writerow([f"{round_trip:g}", alongside, f"{buffer:g}", system, *kept, options.rounds])
        kept = [f"{part} %" for part in kept]
        cells = [f"{round_trip:g} ms", alongside, f"{buffer:g} BDP", system, *(f"{r:.1f}" for r in [*rates, outside]), *kept, f"{ping:.0f}"]
        print(f"| {' | '.join(cells)} |", flush=True)


if __name__ == "__main__":
    main()
