"""Measures what a tunnel adds to the round-trip time: idle, and at half its pace.

    sudo python3 gateway/tools/latency.py target/dist/accord

Two namespaces and a veth pair on this machine. `ping` goes through the tunnel, 500 times per second, and
over the bare path at the same time. The load is UDP by iperf3, 500 Mbit/s through a tunnel of at most
1 Gbit/s. wireguard-go has no pace. Prints a table as Markdown, in microseconds.
"""

import argparse
import re
import statistics
import time

import sites
from speed import GATEWAY, wireguard_go

PINGS = 2000


def pinged(two, address):
    """Starts to ping an address."""
    words = ["ping", "-i", "0.002", "-c", PINGS, "-W", "1", address]
    return two.start(0, *words, stdout=sites.subprocess.PIPE, text=True)


def times(process):
    """The round-trip times that a ping measured, in microseconds."""
    said = process.communicate(timeout=PINGS * 0.02 + 20)[0]
    return sorted(float(t) * 1e3 for t in re.findall(r"time=([\d.]+) ms", said))


def measure(two, name, load):
    server = two.start(1, "iperf3", "-s", "-1", "-B", sites.INNER[1])
    time.sleep(0.3)
    if load:
        seconds = PINGS // 400 + 2
        words = ["iperf3", "-u", "-b", load, "-l", 1350, "-t", seconds, "-c", sites.INNER[1]]
        two.start(0, *words)
        time.sleep(1)
    both = [pinged(two, address) for address in (sites.INNER[1], sites.OUTER[1])]
    tunnel, bare = map(times, both)
    two.end(server)
    cells = []
    for part in (0.5, 0.95):
        at = int(part * (len(tunnel) - 1))
        cells += [f"{tunnel[at]:.0f}", f"{bare[int(part * (len(bare) - 1))]:.0f}"]
    added = statistics.median(tunnel) - statistics.median(bare)
    lost = PINGS - len(tunnel)
    print(f"| {name} | {load or 'none'} | {' | '.join(cells)} | {added:.0f} | {lost} |", flush=True)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("accord")
    program = parser.parse_args().accord
    sites.need("ip", "iperf3", "ping", "wg")
    print(f"| tunnel | load | median | bare path | 95 % | bare path | added, median | lost of {PINGS} |")
    print("|---|---|---|---|---|---|---|---|")
    for load in (None, "500M"):
        with sites.Sites() as two:
            two.gateways(program, peer='cap = "1 Gbps"', gateway=GATEWAY)
            measure(two, "gateway", load)
    plain = wireguard_go()
    for load in (None, "500M"):
        with sites.Sites() as two:
            two.wireguards(plain)
            measure(two, "wireguard-go", load)


if __name__ == "__main__":
    main()
