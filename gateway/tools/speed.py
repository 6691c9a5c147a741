"""Measures how fast a tunnel of two gateways is against one of wireguard-go, per processor core.

    sudo python3 gateway/tools/speed.py target/dist/accord [--rounds N] [--seconds S] [--connections 1,4]
        [--busy N] [--priority]

Both run in turn on this machine: two namespaces, a veth pair of MTU 1500, TCP of the kernel by iperf3
through the tunnel. The gateways encrypt, and their controllers are on. wireguard-go is installed by
`go install`, unless `WIREGUARD_GO` says where it is. Prints a table as Markdown, with medians of the
rounds. `--busy` runs as many other processes that never rest, and `--priority` gives the tunnels' programs the
scheduling policy of the systemd unit.

Processor time is that of both daemons, and of these and iperf3 at both ends, as the kernel accounts it
to processes. What other programs do on the machine makes all figures worse.
"""

import argparse
import os
import pathlib
import shutil
import statistics
import subprocess
import sys
import tempfile

import sites

# At Gbit/s a target of 3 packets is less than 40 µs, which no thread wakes on time for.
GATEWAY = 'target = "200 pkt"\nqueue = "4 MB"'

PLAIN = "gateway, offload = false"


def wireguard_go():
    """The program wireguard-go, which is installed if need be."""
    named = os.environ.get("WIREGUARD_GO")
    if named:
        return named
    go = shutil.which("go") or "/usr/local/go/bin/go"
    folder = pathlib.Path(tempfile.gettempdir()) / "accord-wireguard-go"
    program = folder / "wireguard"
    if not program.exists():
        where = {**os.environ, "GOBIN": str(folder)}
        sites.run(go, "install", "golang.zx2c4.com/wireguard@latest", env=where)
    return str(program)


def measure(kind, program, streams, seconds, priority):
    """Returns Gbit/s, processor seconds of both daemons, and of all with iperf3."""
    with sites.Sites() as two:
        if kind == "wireguard-go":
            processes = two.wireguards(program)
        else:
            plain = "\noffload = false" if kind == PLAIN else ""
            processes = two.gateways(program, peer='cap = "20 Gbps"', gateway=GATEWAY + plain)
        for process in processes:
            # All threads of it.
            for thread in os.listdir(f"/proc/{process.pid}/task"):
                if priority:
                    os.sched_setscheduler(int(thread), os.SCHED_RR, os.sched_param(1))
        two.iperf3(1, "-P", str(streams))
        before = sum(sites.cpu(p.pid) for p in processes)
        results = two.iperf3(seconds, "-P", str(streams))
        daemons = sum(sites.cpu(p.pid) for p in processes) - before
        took = results["sum_received"]["seconds"]
        percent = results["cpu_utilization_percent"]
        ends = took * (percent["host_total"] + percent["remote_total"]) / 100
        return results["sum_received"]["bytes"] * 8e-9, took, daemons, daemons + ends


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("accord")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--seconds", type=int, default=5)
    parser.add_argument("--connections", default="1,4")
    parser.add_argument("--busy", type=int, default=0)
    parser.add_argument("--priority", action="store_true")
    options = parser.parse_args()
    sites.need("ip", "wg", "iperf3")
    programs = {"gateway": options.accord, "wireguard-go": wireguard_go(), PLAIN: options.accord}
    print("| tunnel | TCP connections | Gbit/s | CPU-s per Gbit, daemons | CPU-s per Gbit, all | Gbit/s per core |")
    print("|---|---|---|---|---|---|")
    busy = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(options.busy)]
    try:
        table(options, programs)
    finally:
        for process in busy:
            process.kill()


def table(options, programs):
    for streams in map(int, options.connections.split(",")):
        got = {kind: [] for kind in programs}
        for _ in range(options.rounds):
            for kind, program in programs.items():
                got[kind].append(measure(kind, program, streams, options.seconds, options.priority))
        per_core = {}
        for kind, rounds in got.items():
            rate = statistics.median(gbit / took for gbit, took, _, _ in rounds)
            daemons = statistics.median(cpu / gbit for gbit, _, cpu, _ in rounds)
            everything = statistics.median(cpu / gbit for gbit, _, _, cpu in rounds)
            per_core[kind] = 1 / everything
            print(
                f"| {kind} | {streams} | {rate:.2f} | {daemons:.3f} | {everything:.3f} | {1 / everything:.2f} |",
                flush=True,
            )
        # Of these, the gateway with offloads to wireguard-go.
        ratio = per_core["gateway"] / per_core["wireguard-go"]
        print(f"| gateway / wireguard-go | {streams} | | | | {ratio:.2f} |", flush=True)


if __name__ == "__main__":
    main()
