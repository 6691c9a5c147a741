"""Measures the bursts of a tunnel at a pace: the most bytes that are on the wire within any millisecond.

    sudo python3 gateway/tools/bursts.py target/dist/accord [--mbps 1000] [--seconds 5] [--rounds 3]

Two namespaces and a veth pair of MTU 1500 on this machine. A tunnel with a cap, in mode shadow, so
it sends at the cap whatever the controller says, carries UDP by iperf3 at 1.3 times its pace. A packet
socket at the far end of the wire reads each datagram of the tunnel with the kernel's time stamp, in
nanoseconds. Groups that the kernel has not cut yet (UDP_SEGMENT) have one stamp, and count as if they
were sent at once: a network card would send them at its own rate.

A window of a millisecond at the pace has pace / 8000 bytes. The gateway may make up for a millisecond
that it woke late, so twice that is what it promises. Prints a table as Markdown.
"""

import argparse
import ctypes
import socket
import statistics
import struct
import threading
import time

import sites

ETH_P_IP = 0x0800
SO_TIMESTAMPNS = 35
SCM_TIMESTAMPNS = SO_TIMESTAMPNS
SO_RCVBUFFORCE = 33
CLONE_NEWNET = 0x40000000
PACKET_IGNORE_OUTGOING = 23
SOL_PACKET = 263
PORT = 51820


def packet_socket(namespace, seconds, found):
    """Reads the datagrams of the tunnel that arrive in a namespace, and appends (ns, bytes, datagrams)."""
    with open(f"/var/run/netns/{namespace}") as file:
        # This thread only.
        if ctypes.CDLL(None, use_errno=True).setns(file.fileno(), CLONE_NEWNET) != 0:
            raise OSError(ctypes.get_errno(), "setns")
    wire = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(ETH_P_IP))
    wire.bind(("w", ETH_P_IP))
    wire.setsockopt(SOL_PACKET, PACKET_IGNORE_OUTGOING, 1)
    wire.setsockopt(socket.SOL_SOCKET, SO_TIMESTAMPNS, 1)
    wire.setsockopt(socket.SOL_SOCKET, SO_RCVBUFFORCE, 256 << 20)
    wire.settimeout(0.2)
    room = socket.CMSG_SPACE(16)
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        try:
            # The headers are enough: the length of the packet is in its own.
            head, told, _, _ = wire.recvmsg(64, room)
        except TimeoutError:
            continue
        if len(head) < 42 or head[23] != 17 or struct.unpack_from("!H", head, 36)[0] != PORT:
            continue
        length = struct.unpack_from("!H", head, 16)[0]
        for level, kind, data in told:
            if level == socket.SOL_SOCKET and kind == SCM_TIMESTAMPNS:
                s, ns = struct.unpack("qq", data[:16])
                found.append((s * 1_000_000_000 + ns, length))
    # Statistics of the socket: packets, and those that there was no room for.
    seen, lost = struct.unpack("II", wire.getsockopt(SOL_PACKET, 6, 8))
    found.append((None, lost))


def most_within(stamps, window):
    """The most bytes within any window of so many ns that begins with a packet, and their number."""
    best, total, first = 0, 0, 0
    for at, length in stamps:
        total += length
        while stamps[first][0] <= at - window:
            total -= stamps[first][1]
            first += 1
        best = max(best, total)
    return best


def measure(program, mbps, seconds):
    peer = f'cap = "{mbps} Mbps"\nmode = "shadow"'
    with sites.Sites() as two:
        two.gateways(program, peer=peer, gateway='target = "200 pkt"\nqueue = "4 MB"')
        server = two.start(1, "iperf3", "-s", "-1", "-B", sites.INNER[1])
        time.sleep(0.3)
        words = ["-u", "-b", f"{int(mbps * 1.3)}M", "-l", 1350, "-t", seconds + 3, "-c", sites.INNER[1]]
        two.start(0, "iperf3", *words)
        time.sleep(2)
        found = []
        thread = threading.Thread(target=packet_socket, args=(two.ends[1], seconds, found))
        thread.start()
        thread.join()
        two.end(server)
    if not found or found[-1][0] is not None:
        raise SystemExit("nothing was read on the wire")
    unread = found.pop()[1]
    found.sort()
    span = (found[-1][0] - found[0][0]) * 1e-9
    rate = sum(length for _, length in found) * 8e-6 / span
    largest = max(length for _, length in found)
    return rate, most_within(found, 1_000_000), most_within(found, 100_000), largest, unread


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("accord")
    parser.add_argument("--mbps", type=int, default=1000)
    parser.add_argument("--seconds", type=int, default=5)
    parser.add_argument("--rounds", type=int, default=3)
    options = parser.parse_args()
    sites.need("ip", "iperf3")
    fair = options.mbps * 125
    print(f"| round | Mbit/s on the wire | most KB in 1 ms | of {fair / 1000:.0f} KB | most KB in 0.1 ms | largest group KB | not read |")
    print("|---|---|---|---|---|---|---|")
    rows = []
    for i in range(options.rounds):
        rate, milli, tenth, largest, unread = measure(options.accord, options.mbps, options.seconds)
        rows.append(milli / fair)
        print(
            f"| {i + 1} | {rate:.0f} | {milli / 1e3:.0f} | {milli / fair:.2f} | {tenth / 1e3:.0f} "
            f"| {largest / 1e3:.1f} | {unread} |",
            flush=True,
        )
    print(f"| median | | | {statistics.median(rows):.2f} | | | |")


if __name__ == "__main__":
    main()
