"""Three tunnels and other traffic over one bottleneck, in network namespaces.

    a (three sites) ---+
                       +--- r (bottleneck: TBF, one FIFO queue) --- delay --- b
    x (others) --------+

All tunnels go from `a` to `b`. The kernel of this machine may have no netem, so a process carries packets
between two TUN devices and delays them. The gateways and that process have a real-time policy, and everything else
a high priority, so other work on the machine makes packets late rarely. It takes root and iproute2. Everything made
here is removed at the end.

The program is also run by itself, as a process inside a namespace: see `main`.
"""

import collections
import fcntl
import os
import random
import re
import select
import selectors
import signal
import socket
import struct
import subprocess
import sys
import threading
import time

import sites

# The gateways' addresses, and the others' one.
HERE, THERE, OTHERS = "192.0.2.2", "192.0.2.14", "192.0.2.6"
SITES = (1, 2, 3)
CONNECTIONS = 4
# Not a real-time policy: two spinning threads of Go would keep a machine with two processors for themselves.
PRIORITY = ("nice", "-n", "-20")
# The policy of the systemd unit of a gateway, which rests between packets. The wire has it, too.
UNIT = ("chrt", "--rr", "1")
ECHO = 7007


def inner(side, site):
    """The address of a site inside of its tunnel: side 1 sends, side 2 receives."""
    return f"10.{side}.{site}.1"


class Crossing(sites.Sites):
    """The namespaces a, x, r and b, and the processes in them."""

    def __init__(self, mbps, buffer, delay=0.010, loss=0.0, both=False):
        """A path of `mbps` with `buffer` bytes, late by `delay` seconds each way, that loses the part `loss` towards
        `b`. With `both` the way back to the sites is as narrow."""
        super().__init__()
        self.ends = [self.prefix + name for name in "abrx"]
        self.mbps, self.buffer, self.delay, self.loss, self.both = mbps, buffer, delay, loss, both

    def __enter__(self):
        a, b, r, x = self.ends
        try:
            for end in self.ends:
                sites.run("ip", "netns", "add", end)
                sites.run("ip", "-n", end, "link", "set", "lo", "up")
                for name, value in (("tcp_no_metrics_save", 1), ("ip_forward", int(end == r))):
                    self.write(end, f"net/ipv4/{name}", value)
            for end, device, here, there in ((a, "ra", HERE, "192.0.2.1"), (x, "rx", OTHERS, "192.0.2.5")):
                sites.run("ip", "link", "add", "w", "netns", end, "type", "veth", "peer", "name", device, "netns", r)
                self.up(end, "w", here)
                self.up(r, device, there)
                # Whole packets, as on a wire, not segments joined to larger ones.
                sites.run("ip", "-n", end, "link", "set", "w", "gso_max_segs", "1", "mtu", "1500")
                sites.run("ip", "-n", end, "route", "add", "default", "via", there)
            self.start(2, *UNIT, sys.executable, __file__, "wire", f"/var/run/netns/{r}", f"/var/run/netns/{b}", self.delay, self.loss)
            self.wait(lambda: "w:" in self.at(1, "cat", "/proc/net/dev"), "there is no wire")
            self.wait(lambda: "w:" in self.at(2, "cat", "/proc/net/dev"), "there is no wire")
            self.up(r, "w", "192.0.2.13")
            self.up(b, "w", THERE)
            sites.run("ip", "-n", b, "route", "add", "default", "dev", "w")
            for device in ("w", "ra") if self.both else ("w",):
                self.at(
                    2, "tc", "qdisc", "add", "dev", device, "root", "tbf", "rate", f"{self.mbps}mbit", "burst", "3200",
                    "limit", self.buffer,
                )
        except SystemExit:
            self.__exit__()
            raise
        return self

    def __exit__(self, *more):
        for process in self.running:
            process.terminate()
        super().__exit__(*more)

    def up(self, end, device, address):
        sites.run("ip", "-n", end, "address", "add", f"{address}/30", "dev", device)
        sites.run("ip", "-n", end, "link", "set", device, "txqueuelen", "1000", "up")

    def write(self, end, name, value):
        sites.run("ip", "netns", "exec", end, "sh", "-c", f"echo {value} > /proc/sys/{name}")

    def wait(self, there, why, seconds=15):
        deadline = time.monotonic() + seconds
        while not there():
            if time.monotonic() > deadline:
                sys.exit(why)
            time.sleep(0.05)

    def role(self, end, *words):
        """Starts a process of this file at one end."""
        words = (*PRIORITY, sys.executable, __file__, *words)
        return self.start(end, *words, stdout=subprocess.PIPE, text=True)

    def measure(self, outside, congestion, settle, seconds):
        """The payload in Mbps of each site and of the traffic outside, and the median of a ping through site 1.

        `outside` flows have this `congestion` control. If that is "Mbps", there is one of a constant rate. With
        `both` the sites send in both directions, and the lesser rate counts.
        """
        ports = [[5000 + 10 * site + i for i in range(CONNECTIONS)] for site in SITES]
        constant = congestion == "Mbps"
        others = [6000 + i for i in range(1 if constant else outside)]
        ping = self.start(
            0, *PRIORITY, "ping", "-i", "0.1", "-w", settle + seconds, "-W", "1", inner(2, 1),
            stdout=subprocess.PIPE, text=True,
        )
        kind = "udp:" if constant else ""
        listen = self.role(1, "receive", settle, seconds, *sum(ports, []), *(f"{kind}{port}" for port in others))
        back = self.role(0, "receive", settle, seconds, *sum(ports, [])) if self.both else None
        for end in [listen, *([back] if back else [])]:
            end.stdout.readline()
        flows = [f"{inner(2, site)}:{port}:cubic" for site, of in zip(SITES, ports) for port in of]
        self.role(0, "send", *flows)
        if back:
            flows = [f"{inner(1, site)}:{port}:cubic" for site, of in zip(SITES, ports) for port in of]
            self.role(1, "send", *flows)
        if constant:
            self.role(3, "constant", outside, THERE, others[0])
        elif others:
            self.role(3, "send", *(f"{THERE}:{port}:{congestion}" for port in others))
        rates = [
            dict(line.split() for line in end.communicate(timeout=settle + seconds + 30)[0].splitlines())
            for end in [listen, *([back] if back else [])]
        ]
        total = lambda ports: min(sum(float(r[str(port)]) for port in ports) for r in rates)
        times = sorted(float(t) for t in re.findall(r"time=([\d.]+) ms", ping.communicate(timeout=20)[0]))
        times = times[len(times) // 4 :] or [float("nan")]
        return [total(of) for of in ports] + [total(others) if others else 0.0, times[len(times) // 2]]

    def shaped(self, rates, ceiling, weights):
        """Shapes what the sites send: HTB with a rate for each site and a ceiling for all, by their ports."""
        tc = lambda *words: self.at(0, "tc", *map(str, words))
        tc("qdisc", "replace", "dev", "w", "root", "handle", "1:", "htb", "default", 9)
        self.ceiling(ceiling)
        for site, rate, weight in zip(SITES, rates, weights):
            tc(
                "class", "add", "dev", "w", "parent", "1:9", "classid", f"1:{site}", "htb", "rate", f"{rate}mbit",
                "ceil", "100mbit", "burst", 3200, "cburst", 3200, "quantum", 1600 * weight,
            )
            tc("qdisc", "add", "dev", "w", "parent", f"1:{site}", "bfifo", "limit", 60000)
            tc(
                "filter", "add", "dev", "w", "parent", "1:", "protocol", "ip", "u32", "match", "ip", "sport",
                51820 + site, "0xffff", "flowid", f"1:{site}",
            )

    def ceiling(self, mbps):
        self.at(
            0, "tc", "class", "replace", "dev", "w", "parent", "1:", "classid", "1:9", "htb", "rate",
            f"{round(mbps * 1000)}kbit", "burst", 3200, "cburst", 3200,
        )


def enter(path):
    """Enters a namespace."""
    import ctypes

    with open(path) as file:
        if ctypes.CDLL(None, use_errno=True).setns(file.fileno(), 0x40000000) != 0:
            raise OSError(ctypes.get_errno(), "setns")


def wire(a, b, delay, loss):
    """Carries packets between device w in two namespaces, each `delay` seconds late, less the part `loss` to `b`."""
    ends, dice = [], random.Random(1)
    for namespace in (a, b):
        enter(namespace)
        fd = os.open("/dev/net/tun", os.O_RDWR | os.O_NONBLOCK)
        # A TUN device without a header: IFF_TUN | IFF_NO_PI.
        fcntl.ioctl(fd, 0x400454CA, struct.pack("16sH22x", b"w", 0x1001))
        ends.append(fd)
    poll = select.poll()
    for fd in ends:
        poll.register(fd, select.POLLIN)
    queues = collections.deque(), collections.deque()
    now = time.monotonic
    while True:
        due = min((queue[0][0] for queue in queues if queue), default=None)
        # poll waits whole milliseconds: the last one is waited for by a sleep.
        left = 0.05 if due is None else due - now()
        if left > 0.0015:
            poll.poll(int(1000 * left - 0.5))
        elif left > 0:
            time.sleep(min(left, 0.0003))
        for way in (0, 1):
            try:
                for _ in range(64):
                    packet = os.read(ends[way], 65536)
                    if way or dice.random() >= loss:
                        queues[way].append((now() + delay, packet))
            except BlockingIOError:
                pass
            queue = queues[way]
            while queue and queue[0][0] <= now():
                try:
                    os.write(ends[1 - way], queue.popleft()[1])
                except OSError:
                    pass


def send(flows):
    """Sends what goes by TCP, each flow ADDRESS:PORT:CONGESTION."""

    def run(address, port, congestion):
        flow = socket.socket()
        flow.setsockopt(socket.IPPROTO_TCP, socket.TCP_CONGESTION, congestion.encode())
        flow.connect((address, int(port)))
        while True:
            flow.sendall(bytes(65536))

    for flow in flows:
        threading.Thread(target=run, args=flow.split(":")).start()


def receive(settle, seconds, ports):
    """Prints the payload in Mbps that arrives at each port, from `settle` on for `seconds`."""
    poll, counts = selectors.DefaultSelector(), {port.removeprefix("udp:"): 0 for port in ports}
    for port in ports:
        if port.startswith("udp:"):
            port = port.removeprefix("udp:")
            datagrams = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
            datagrams.bind(("0.0.0.0", int(port)))
            poll.register(datagrams, selectors.EVENT_READ, (port, False))
            continue
        listener = socket.create_server(("0.0.0.0", int(port)))
        poll.register(listener, selectors.EVENT_READ, (port, True))
    print("ready", flush=True)
    began = time.monotonic()
    room = bytearray(1 << 18)

    def until(end):
        while (left := end - time.monotonic()) > 0:
            for key, _ in poll.select(left):
                port, listens = key.data
                if listens:
                    poll.register(key.fileobj.accept()[0], selectors.EVENT_READ, (port, False))
                else:
                    counts[port] += key.fileobj.recv_into(room)

    until(began + settle)
    before, start = dict(counts), time.monotonic()
    until(start + seconds)
    took = time.monotonic() - start
    for port in counts:
        print(port, (counts[port] - before[port]) * 8e-6 / took)


def constant(mbps, address, port):
    """Sends datagrams of 1500 bytes at a constant rate on the wire."""
    flow = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    due, gap = time.monotonic(), 1500 * 8e-6 / mbps
    while True:
        flow.sendto(bytes(1472), (address, port))
        due += gap
        time.sleep(max(0.0, due - time.monotonic()))


def echo():
    """Answers datagrams."""
    answers = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    answers.bind((THERE, ECHO))
    while True:
        data, where = answers.recvfrom(100)
        answers.sendto(data, where)


def main():
    role, *words = sys.argv[1:]
    signal.signal(signal.SIGTERM, lambda *_: os._exit(0))
    match role:
        case "wire":
            wire(*words[:2], *map(float, words[2:]))
        case "constant":
            constant(float(words[0]), words[1], int(words[2]))
        case "send":
            send(words)
        case "receive":
            receive(float(words[0]), float(words[1]), words[2:])
        case "echo":
            echo()
        case "autorate":
            import autorate

            autorate.run(*map(float, words))


if __name__ == "__main__":
    main()
