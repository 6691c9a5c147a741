"""Measures what many peers cost one gateway: memory, and processor time idle and with traffic.

    sudo python3 gateway/tools/peers.py target/dist/accord [--peers 1,10,100]

One gateway in one namespace, its peers in another, each a gateway of its own. Traffic is UDP in
packets of 1200 bytes from the gateway to its peers in turn, 50 Mbit/s in all. Then it is as much as
every peer's queue holds, to peers whose tunnels carry 100 kbit/s: the memory is that of full queues.
Prints a table as Markdown.
"""

import argparse
import subprocess
import sys
import time

import sites

QUEUE = 100_000
# Sends packets to `count` peers in turn for `seconds`, at a rate in bit/s.
SEND = """
import socket, sys, time
count, seconds, rate = int(sys.argv[1]), float(sys.argv[2]), float(sys.argv[3])
send = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
began, sent = time.monotonic(), 0
while (now := time.monotonic() - began) < seconds:
    while sent * 9600 <= rate * now:
        try:
            send.sendto(bytes(1172), (f"10.2.{sent % count + 1}.1", 9))
        except OSError:
            pass
        sent += 1
    time.sleep(0.001)
"""


def join(two, program, count, cap):
    """Starts a gateway and its peers. Returns the gateway's process."""
    names = ["hub"] + [f"p{i}" for i in range(1, count + 1)]
    keys = {n: sites.run(program, "gateway", "keys", two.folder / f"{n}.key").strip() for n in names}
    own = ", ".join(f'"10.1.{i}.1/24"' for i in range(1, count + 1))
    hub = (
        f'[gateway]\nkey = "hub.key"\nlisten = "{sites.OUTER[0]}:51820"\ndevice = "hub"\naddress = [{own}]\n'
        f'queue = "{QUEUE} B"\nstatus = "0.sock"\n'
    )
    for i in range(1, count + 1):
        hub += (
            f'[peer.p{i}]\npublic_key = "{keys[f"p{i}"]}"\nnetworks = ["10.2.{i}.0/24"]\ncap = "{cap}"\n'
        )
        (two.folder / f"p{i}.toml").write_text(
            f'[gateway]\nkey = "p{i}.key"\nlisten = "{sites.OUTER[1]}:{20000 + i}"\ndevice = "p{i}"\n'
            f'address = ["10.2.{i}.1/24"]\n[peer.hub]\npublic_key = "{keys["hub"]}"\n'
            f'endpoint = "{sites.OUTER[0]}:51820"\nnetworks = ["10.1.{i}.0/24"]\ncap = "{cap}"\n'
        )
    (two.folder / "0.toml").write_text(hub)
    gateway = two.start(0, program, "gateway", "run", two.folder / "0.toml")
    for i in range(1, count + 1):
        two.start(1, program, "gateway", "run", two.folder / f"p{i}.toml")
    deadline = time.monotonic() + 30 + count / 2
    while (up := sum(p["state"] == "controlled" for p in two.status(program, 0))) < count:
        if time.monotonic() > deadline:
            sys.exit(f"{up} of {count} peers joined")
        time.sleep(0.2)
    return gateway


def part(gateway, seconds):
    """The part of a processor that a process uses, in percent."""
    before, began = sites.cpu(gateway.pid), time.monotonic()
    time.sleep(seconds)
    return 100 * (sites.cpu(gateway.pid) - before) / (time.monotonic() - began)


def traffic(two, count, seconds, rate):
    return two.start(0, "python3", "-c", SEND, count, seconds, rate)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("accord")
    parser.add_argument("--peers", default="1,10,100")
    options = parser.parse_args()
    sites.need("ip")
    print("| peers | memory, MB | CPU idle, % | CPU at 50 Mbit/s, % | MB that wait | memory then, MB |")
    print("|---|---|---|---|---|---|")
    for count in map(int, options.peers.split(",")):
        with sites.Sites() as two:
            gateway = join(two, options.accord, count, "100 Mbps")
            time.sleep(3)
            least, idle = sites.memory(gateway.pid), part(gateway, 10)
            sender = traffic(two, count, 8, 50e6)
            time.sleep(2)
            loaded = part(gateway, 5)
            sender.wait()
        with sites.Sites() as two:
            gateway = join(two, options.accord, count, "100 kbps")
            # Twice the room of the queues, before CoDel begins to drop.
            sender, full, waiting = traffic(two, count, 2, 8 * QUEUE * count), 0, 0
            while sender.poll() is None:
                time.sleep(0.1)
                full = max(full, sites.memory(gateway.pid))
                classes = [c for p in two.status(options.accord, 0) for c in p["classes"]]
                waiting = max(waiting, sum(c["waiting_bytes"] for c in classes))
        cells = [least / 1e6, idle, loaded, waiting / 1e6, full / 1e6]
        print(f"| {count} | {' | '.join(f'{cell:.1f}' for cell in cells)} |", flush=True)


if __name__ == "__main__":
    main()
