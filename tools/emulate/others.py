#!/usr/bin/env python3
"""Compares `accord emulate` with other emulators on this machine, in turn and from outside.

    python3 tools/emulate/others.py target/release/accord [--rattan FILE] [--mahimahi FOLDER] [--only NAME,NAME]

Prints a table of Markdown, of medians of three runs. All emulators have a path of the same rate and, if they can, 10 ms.
`bare` is tools/emulate/bare.c: the least that an emulator does. `tbf` is the kernel's token bucket, without a
delay. mahimahi's mm-link has no delay either: two of its shells, one in the other, need a sysctl of the host.

- Rate: what arrives of UDP at 1.1 times the rate, as a difference from the rate.
- Delay: the median and the 99th percentile of packets without a queue, beyond 10 ms.
- CPU: the time of all processors for UDP at nine tenths of the rate, less that over a pair of devices (`none`), per packet.
- Unlimited: TCP over 10 Gbps without a delay.

Needs root, cc, iproute2, iperf3 and an idle machine. Runs in namespaces of its own.
"""

import argparse
import functools
import json
import shutil
import statistics
import subprocess
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
DELAY, SIZE, SECONDS, PROBES = 10, 1200, 4, 1000
# IP and UDP.
HEADERS = 28
PAIR = """
ip link set lo up
unshare -n sleep 1000 & far=$!
sleep 0.2
ip link add near type veth peer name far netns $far
ip address add 10.9.0.1/24 dev near; ip link set near up
nsenter -t $far -n sh -c 'ip link set lo up; ip address add 10.9.0.2/24 dev far; ip link set far up'
{shape}
nsenter -t $far -n sh -c '{server}' & serving=$!
sleep 0.5
ADDRESS=10.9.0.2 sh -c '{command}'
kill $serving 2> /dev/null || true
"""
TBF = """
tc qdisc add dev near root tbf rate {rate}mbit burst 3200 limit 3000000
"""
INSIDE = """
ip link set lo up
sysctl -q -w net.ipv4.ip_forward=1
sh -c '{server}' & serving=$!
sleep 0.5
cd /
{line}
kill $serving 2> /dev/null || true
"""


class Emulators:
    """Scripts for a shell, by emulator, that run a server and a command over a path."""

    def __init__(self, accord, rattan, mahimahi, place):
        self.accord, self.rattan, self.mahimahi, self.place = accord, rattan, mahimahi, place

    def pair(self, rate, delay, server, command):
        return PAIR.format(shape="", server=server, command=command)

    def tbf(self, rate, delay, server, command):
        return PAIR.format(shape=TBF.format(rate=rate), server=server, command=command)

    def bare(self, rate, delay, server, command):
        return f"{self.place}/bare {rate} {delay} '{server}' '{command}'"

    def run_accord(self, rate, delay, server, command):
        line = f"{self.accord} emulate --rate '{rate} Mbps' --delay '{delay} ms' --queue droptail:limit=2000"
        return f"ADDRESS= {line} --server '{server}' -- sh -c 'ADDRESS=$ACCORD_SERVER; {command}' 2> /dev/null"

    def run_rattan(self, rate, delay, server, command):
        ways = " ".join(f"--{way}-bandwidth {rate}Mbps --{way}-delay {delay}ms" for way in ("uplink", "downlink"))
        queues = " ".join(f"--{way}-queue droptail --{way}-queue-args '{{\"packet_limit\": 2000}}'" for way in ("uplink", "downlink"))
        line = f"{self.rattan} link {ways} {queues} -- sh -c 'ADDRESS=$RATTAN_BASE; {command}'"
        return INSIDE.format(server=server, line=line)

    def run_mahimahi(self, rate, delay, server, command):
        # Delivery opportunities of 1500 bytes, in milliseconds.
        count = max(1, round(rate * 1e6 / 12000))
        times = [max(1, round((i + 1) * 1000 / count)) for i in range(count)]
        trace = Path(self.place) / "trace"
        trace.write_text("".join(f"{t}\n" for t in times))
        user = "setpriv --reuid=65534 --regid=65534 --clear-groups env -i"
        line = f"{user} PATH=/usr/bin:/usr/sbin:/bin:/sbin USER=nobody {self.mahimahi}/mm-link {trace} {trace} "
        line += "--uplink-queue=droptail --uplink-queue-args=packets=2000 "
        return INSIDE.format(server=server, line=line + f"-- sh -c 'ADDRESS=$MAHIMAHI_BASE; {command}'")


def busy():
    """The seconds of all processors that were not idle since the machine started."""
    fields = [int(x) for x in Path("/proc/stat").read_text().split("\n", 1)[0].split()[1:]]
    return (sum(fields[:3]) + sum(fields[5:7])) / 100


def run(script, place):
    """Runs a script in a network namespace of its own. Returns the seconds of all processors."""
    before = busy()
    # All processes of the script end with its first one.
    line = ["unshare", "-n", "--pid", "--fork", "--kill-child", "--mount-proc", "bash", "-ec", script]
    done = subprocess.run(line, cwd=place, capture_output=True, text=True, timeout=60, check=False)
    used = busy() - before
    if done.returncode:
        raise RuntimeError(done.stderr + done.stdout)
    return used


def load(script, place, words):
    """A load of iperf3 over a path: what it reports, and the seconds of all processors."""
    report = Path(place) / "report"
    report.unlink(missing_ok=True)
    command = f"iperf3 -c $ADDRESS -t {SECONDS} -J --get-server-output {words} > {report}"
    used = run(script("iperf3 -s -1 -J > /dev/null", command), place)
    return json.loads(report.read_text())["server_output_json"], used


def udp(script, place, rate):
    """UDP at a rate: packets that arrive per second, packets that arrive, and the seconds of all processors."""
    report, used = load(script, place, f"-u -l {SIZE} -O 1 -b {rate * SIZE / (SIZE + HEADERS):.4f}M")
    intervals = [i["sum"] for i in report["intervals"] if not i["sum"]["omitted"]]
    # The first and the last may be cut short.
    middle = intervals[1:-1] or intervals
    arrived = sum(i["bytes"] for i in middle) / SIZE
    everything = sum(i["sum"]["bytes"] for i in report["intervals"]) / SIZE
    return arrived / sum(i["seconds"] for i in middle), everything, used


def measure(emulator, rate, place):
    """A row of the table for an emulator and a rate."""

    def script(rate, delay):
        return functools.partial(emulator, rate, delay)

    if rate is None:
        report, _ = load(script(10000, 0), place, "-O 1")
        return {"unlimited": report["end"]["sum_received"]["bits_per_second"] / 1e9}
    delay = 0 if emulator.__name__ in ("pair", "tbf", "run_mahimahi") else DELAY
    arrived, *_ = udp(script(rate, DELAY), place, 1.1 * rate)
    _, packets, used = udp(script(rate, DELAY), place, 0.9 * rate)
    found = {"rate": arrived * (SIZE + HEADERS) * 8 / (rate * 1e6) - 1, "cpu": used / packets * 1e6}
    # mahimahi's user sees no other folder, and perhaps no other Python.
    shutil.copy(HERE / "probe.py", place)
    probe = f"/usr/bin/python3 {place}/probe.py"
    serve = f"{probe} serve {PROBES} {delay} > {place}/delays"
    run(script(rate, DELAY)(serve, f"{probe} send $ADDRESS {PROBES}; sleep 2"), place)
    found["p50"], found["p99"] = map(float, (Path(place) / "delays").read_text().split())
    return found


def main():
    """Prints the table."""
    parser = argparse.ArgumentParser()
    parser.add_argument("accord")
    parser.add_argument("--rattan")
    parser.add_argument("--mahimahi")
    parser.add_argument("--only")
    parser.add_argument("--repeat", type=int, default=3)
    given = parser.parse_args()
    accord = Path(shutil.which(given.accord) or given.accord).resolve()
    with tempfile.TemporaryDirectory() as place:
        # mahimahi runs as another user.
        Path(place).chmod(0o777)
        subprocess.run(["cc", "-O2", "-o", f"{place}/bare", HERE / "bare.c"], check=True)
        all_of = Emulators(accord, given.rattan, given.mahimahi, place)
        rows = {"none": all_of.pair, "bare": all_of.bare, "accord emulate": all_of.run_accord, "tc tbf": all_of.tbf}
        if given.rattan:
            rows["rattan"] = all_of.run_rattan
        if given.mahimahi:
            rows["mm-link"] = all_of.run_mahimahi
        only = given.only.split(",") if given.only else rows
        print("| rate | emulator | rate achieved | delay, median | delay, 99 % | CPU per packet |")
        print("|---|---|---|---|---|---|")
        for rate in (100, 500, None):
            found = {name: [] for name in rows if name in only or name == "none"}
            for _ in range(given.repeat):
                for name, runs in found.items():
                    if rate is None and name in ("tc tbf", "mm-link"):
                        continue
                    runs.append(measure(rows[name], rate, place))
            middle = {
                name: {key: statistics.median(run[key] for run in runs) for key in runs[0]} for name, runs in found.items() if runs
            }
            for name, values in middle.items():
                if rate is None:
                    print(f"| unlimited | {name} | {values['unlimited']:.2f} Gbps | | | |", flush=True)
                else:
                    own = values["cpu"] - middle["none"]["cpu"]
                    achieved = "–" if name == "none" else f"{100 * values['rate']:+.3f} %"
                    print(
                        f"| {rate} Mbps | {name} | {achieved} | {values['p50']:.0f} µs | {values['p99']:.0f} µs | {own:.1f} µs |",
                        flush=True,
                    )


if __name__ == "__main__":
    main()
