"""Compares controllers in the kernel's TCP with packets, and measures their cost.

    python3 tools/kernel/families.py PROGRAM                  families, and the kernel's own
    python3 tools/kernel/families.py PROGRAM copa vegas       these
    python3 tools/kernel/families.py PROGRAM --cost           processor time and ages of decisions

PROGRAM is accord, built with the feature kernel. It needs root, iproute2 and a machine without other
work. A controller takes 20 s per repetition.
"""

import argparse
import json
import math
import os
import re
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
SCENARIO = ROOT / "docs/examples/kernel-accord.toml"
# The model that runs in packets for each congestion control of the kernel.
KERNELS = {"cubic": "cubic", "reno": "newreno", "bbr": "bbr1"}
FAMILIES = ["newreno", "cubic", "multcp", "prague", "bbr1", "bbr3", "copa", "vegas", "ledbat", "ledbat-pp"]
QUANTITIES = ["throughput", "rtt", "retransmissions"]


class Attached:
    """A controller that stays attached until the end of the block."""

    def __init__(self, program, controller):
        self.program = program
        self.name = f"f{os.getpid() % 10**6}_{re.sub('[^a-z0-9]', 'p', controller)}"[:15]
        command = [program, "kernel", "attach", "--controller", controller, "--name", self.name]
        self.process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
        said = self.process.stderr.readline()
        if "is attached" not in said:
            sys.exit(said + self.process.stderr.read())

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.send_signal(signal.SIGTERM)
        self.process.wait()

    def status(self):
        """Return the state."""
        command = [self.program, "kernel", "status", self.name, "--json"]
        return json.loads(subprocess.run(command, stdout=subprocess.PIPE, check=True).stdout)

    def cpu(self):
        """Return the processor time of the process in seconds."""
        words = Path(f"/proc/{self.process.pid}/stat").read_text().rsplit(")", 1)[1].split()
        return (int(words[11]) + int(words[12])) / os.sysconf("SC_CLK_TCK")


def measure(program, controller, kernel, reps):
    """Return the means of a run in packets and live, by quantity."""
    with tempfile.TemporaryDirectory() as directory:
        command = [program, "run", SCENARIO, "--engine", "packet,live", "--reps", str(reps), "--json"]
        command += ["--set", f"flow.f.controller={controller}", "--set", f"flow.f.kernel={kernel}"]
        done = subprocess.run(
            [*command, "--quiet", "-o", f"{directory}/run"], stdout=subprocess.PIPE, text=True
        )
    if done.returncode not in (0, 1):
        sys.exit(done.returncode)
    (point,) = json.loads(done.stdout)["points"]
    unfit = [run["unfit"] for run in point["runs"] if run["unfit"]]
    found = {}
    for mean in point["means"]:
        if mean.get("group") == "f" and mean["quantity"] in QUANTITIES:
            for value in mean["values"]:
                if "mean" in value:
                    width = value.get("half_width") or 0
                    found[mean["quantity"], value["column"]] = (value["mean"], width)
    return found, unfit


def row(name, found, unfit):
    """Print a row of the table."""
    cells = [name]
    for quantity in QUANTITIES:
        (a, wa), (b, wb) = found[quantity, "packet"], found[quantity, "live"]
        scale = {"throughput": 1e-6, "rtt": 1e3}.get(quantity, 1)
        cells += [f"{a * scale:.4g} ± {wa * scale:.2g}", f"{b * scale:.4g} ± {wb * scale:.2g}"]
        if quantity != "retransmissions":
            cells.append(f"{b / a - 1:+.1%} ± {math.hypot(wb, wa * b / a) / a:.1%}")
    print("| " + " | ".join(cells) + (" | too busy |" if unfit else " | |"), flush=True)


def families(program, names, reps):
    """Print the table of families."""
    print(
        "| controller | throughput, packets (Mbps) | kernel | deviation | rtt, packets (ms) | kernel "
        "| deviation | sent again, packets | kernel | |\n|---|---|---|---|---|---|---|---|---|---|"
    )
    for name in names or FAMILIES:
        row(f"{name}, ours", *measure(program, name, "accord", reps))
    for kernel, model in {} if names else KERNELS.items():
        row(f"{kernel}, the kernel's", *measure(program, model, kernel, reps))


# Sends as fast as possible over several connections; the last argument is the congestion control.
SENDER = """
import fcntl, selectors, socket, struct, sys, termios, time
count, seconds, name = int(sys.argv[1]), float(sys.argv[2]), sys.argv[3]
sockets, waits = [], selectors.DefaultSelector()
for _ in range(count):
    s = socket.create_connection(("10.9.2.1", 5999))
    s.setsockopt(socket.IPPROTO_TCP, socket.TCP_CONGESTION, name.encode())
    s.setblocking(False)
    waits.register(s, selectors.EVENT_WRITE)
    sockets.append(s)
data, end, sent = bytes(1 << 18), time.monotonic() + seconds, 0
while time.monotonic() < end:
    for key, _ in waits.select(0.1):
        try:
            sent += key.fileobj.send(data)
        except BlockingIOError:
            pass
waiting = [fcntl.ioctl(s, termios.TIOCOUTQ, bytes(4)) for s in sockets]
print(sent - sum(struct.unpack("i", n)[0] for n in waiting))
"""
RECEIVER = """
import selectors, socket
waits, server = selectors.DefaultSelector(), socket.create_server(("10.9.2.1", 5999), backlog=2048)
waits.register(server, selectors.EVENT_READ)
print("ready", flush=True)
while True:
    for key, _ in waits.select():
        if key.fileobj is server:
            client, _ = server.accept()
            waits.register(client, selectors.EVENT_READ)
        elif not key.fileobj.recv(1 << 20):
            waits.unregister(key.fileobj)
            key.fileobj.close()
"""


def busy():
    """Return the processor time of the machine in seconds, without idle time."""
    words = Path("/proc/stat").read_text().split("\n", 1)[0].split()[1:]
    times = [int(word) for word in words]
    return (sum(times[:8]) - times[3] - times[4]) / os.sysconf("SC_CLK_TCK")


def network(rate):
    """Create two namespaces joined by a link of the given rate in Mbps, and return their names."""
    names = [f"accord-{os.getpid()}-{side}" for side in "ab"]
    for name in names:
        subprocess.run(["ip", "netns", "add", name], check=True)
    a, b = names
    lines = [
        f"ip link add v0 netns {a} type veth peer name v1 netns {b}",
        f"ip -n {a} addr add 10.9.2.2/24 dev v0",
        f"ip -n {b} addr add 10.9.2.1/24 dev v1",
        f"ip -n {a} link set v0 up",
        f"ip -n {b} link set v1 up",
        f"tc -n {a} qdisc add dev v0 root tbf rate {rate}mbit burst 128kb limit 1mb",
    ]
    for line in lines:
        subprocess.run(line.split(), check=True)
    return names


def cost(program, names, rate, seconds):
    """Print the table of costs."""
    hosts = network(rate)
    inside = [["ip", "netns", "exec", host, sys.executable, "-c"] for host in hosts]
    receiver = subprocess.Popen([*inside[1], RECEIVER], stdout=subprocess.PIPE, text=True)
    receiver.stdout.readline()

    def transfer(count, name):
        before, began = busy(), time.monotonic()
        sender = [*inside[0], SENDER, str(count), str(seconds), name]
        sent = int(subprocess.run(sender, stdout=subprocess.PIPE, check=True).stdout)
        return sent * 8e-9 / (time.monotonic() - began), busy() - before

    print(
        "| controller | connections | Gbps | machine (s per Gbit) | the program (s per Gbit) | reports "
        "per Gbit | age, mean (ms) | 99 % | most | fell back on Reno |\n"
        "|---|---|---|---|---|---|---|---|---|---|"
    )
    try:
        for count in [1, 10, 100, 1000]:
            gbps, cpu = transfer(count, "cubic")
            print(f"| the kernel's cubic | {count} | {gbps:.3f} | {cpu / gbps / seconds:.3f} | | | | | | |")
            for name in names or ["reno", "cubic", "copa", "bbr3"]:
                with Attached(program, name) as attached:
                    before = attached.cpu()
                    gbps, cpu = transfer(count, attached.name)
                    own, status = attached.cpu() - before, attached.status()
                gbit, ages = gbps * seconds, status["decision_age_s"]
                cells = [f"{name}, ours", count, f"{gbps:.3f}", f"{cpu / gbit:.3f}"]
                cells += [f"{own / gbit:.3f}", f"{status['reports_total'] / gbit:.0f}"]
                cells += [f"{ages[key] * 1e3:.3g}" for key in ["mean", "p99", "max"]]
                cells.append(status["silences_total"])
                print("| " + " | ".join(map(str, cells)) + " |", flush=True)
    finally:
        receiver.kill()
        for host in hosts:
            subprocess.run(["ip", "netns", "del", host], check=False)


def main():
    """Measure."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("program")
    parser.add_argument("families", nargs="*")
    parser.add_argument("--reps", type=int, default=3)
    parser.add_argument("--cost", action="store_true")
    parser.add_argument("--rate", type=int, default=1000, help="of the link, in Mbps, for --cost")
    parser.add_argument("--seconds", type=int, default=5, help="of a transfer, for --cost")
    given = parser.parse_intermixed_args()
    program = str(Path(given.program).resolve())
    if given.cost:
        cost(program, given.families, given.rate, given.seconds)
    else:
        families(program, given.families, given.reps)


main()
