"""Measures what two gateways on one host carry, against one that has the peers of both.

    sudo python3 gateway/tools/processors.py target/dist/accord [--rounds N] [--seconds S]

The host has two peers. TCP of the kernel goes to both at once, by iperf3. Prints a table as Markdown,
with medians of the rounds: the sum of both, and the processors that the host's gateways kept busy. The
far ends and iperf3 run on this machine, too. With fewer than five processors all of them compete, and
the second gateway has hardly one to run on.
"""

import argparse
import json
import os
import statistics
import subprocess
import time

import sites

# As in speed.py: at Gbit/s a target of 3 packets is less than 40 µs.
GATEWAY = 'target = "200 pkt"\nqueue = "4 MB"'


def key(two, program, name):
    return sites.run(program, "gateway", "keys", two.folder / f"{name}.key").strip()


def gateway(two, program, end, name, port, addresses, peers):
    """Starts a gateway: its port, its addresses, and of each peer its key, port and network."""
    quoted = ", ".join(f'"{a}"' for a in addresses)
    text = (
        f'[gateway]\nkey = "{name}.key"\nlisten = "{sites.OUTER[end]}:{port}"\ndevice = "gw{port}"\n'
        f'address = [{quoted}]\nstatus = "{name}.sock"\n{GATEWAY}\n'
    )
    for i, (public, other, network) in enumerate(peers):
        text += (
            f'[peer.p{i}]\npublic_key = "{public}"\nendpoint = "{sites.OUTER[1 - end]}:{other}"\n'
            f'networks = ["{network}"]\ncap = "20 Gbps"\n'
        )
    (two.folder / f"{name}.toml").write_text(text)
    process = two.start(end, program, "gateway", "run", two.folder / f"{name}.toml")
    process.name = name
    return process


def wait(two, program, processes):
    deadline = time.monotonic() + 15
    for process in processes:
        while {p["state"] for p in two.status(program, process.name)} != {"controlled"}:
            if time.monotonic() > deadline:
                raise SystemExit(f"gateway {process.name} has no session")
            time.sleep(0.1)


def measure(program, count, seconds):
    """Returns Gbit/s to both peers, and the processors that the host's gateways were busy on."""
    with sites.Sites() as two:
        ours = [key(two, program, f"a{i}") for i in range(count)]
        theirs = [key(two, program, f"b{i}") for i in (0, 1)]
        peers = [(theirs[i], 51820 + i, f"10.{2 + i}.0.0/24") for i in (0, 1)]
        far = []
        for i in (0, 1):
            mine = min(i, count - 1)
            far.append(gateway(two, program, 1, f"b{i}", 51820 + i, [f"10.{2 + i}.0.1/24"],
                               [(ours[mine], 51820 + mine, f"10.1.0.{1 + i}/32")]))
        if count == 1:
            near = [gateway(two, program, 0, "a0", 51820, ["10.1.0.1/32", "10.1.0.2/32"], peers)]
        else:
            near = [gateway(two, program, 0, f"a{i}", 51820 + i, [f"10.1.0.{1 + i}/32"], [peers[i]])
                    for i in (0, 1)]
        wait(two, program, near + far)
        for i in (0, 1):
            two.start(1, "iperf3", "-s", "-B", f"10.{2 + i}.0.1")
        time.sleep(0.3)

        def send(length):
            """Sends to both peers. Returns the bytes that arrived, and the seconds."""
            clients = [
                two.start(0, "iperf3", "-J", "-c", f"10.{2 + i}.0.1", "-B", f"10.1.0.{1 + i}", "-t", length,
                          stdout=subprocess.PIPE)
                for i in (0, 1)
            ]
            ends = [json.loads(client.communicate(timeout=length + 20)[0])["end"] for client in clients]
            return [end["sum_received"] for end in ends]

        send(1)
        before = sum(sites.cpu(p.pid) for p in near)
        got = send(seconds)
        busy = sum(sites.cpu(p.pid) for p in near) - before
        gbit = sum(end["bytes"] * 8e-9 / end["seconds"] for end in got)
        return gbit, busy / seconds


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("accord")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--seconds", type=int, default=5)
    options = parser.parse_args()
    sites.need("ip", "iperf3")
    got = {1: [], 2: []}
    for _ in range(options.rounds):
        for count, rounds in got.items():
            rounds.append(measure(options.accord, count, options.seconds))
    print(f"This machine has {os.cpu_count()} processors.\n")
    print("| gateways of the host | Gbit/s to both peers | processors busy with them |")
    print("|---|---|---|")
    medians = {}
    for count, rounds in got.items():
        medians[count] = statistics.median(gbit for gbit, _ in rounds)
        busy = statistics.median(busy for _, busy in rounds)
        print(f"| {count} | {medians[count]:.2f} | {busy:.2f} |")
    ratios = [b / a for (a, _), (b, _) in zip(got[1], got[2])]
    print(f"| 2 to 1, median of rounds | {statistics.median(ratios):.2f} | |")


if __name__ == "__main__":
    main()
