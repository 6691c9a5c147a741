"""Maps what contracts keep over round trips, buffers and rivals, in the packet engine.

    python3 gateway/tools/packets.py target/release/accord [--round-trips 60,150] [--buffers 1] [--alongside '2 bbr']

The setting is that of gateway/tools/matrix.py: contracts of 10, 5 and 0 Mbps and weights of 1, 2 and 1 over 30
Mbps and one FIFO queue, four CUBIC connections per site, and others alongside them. The contracts have no limit.
In a plain tunnel, as of wireguard-go, the connections meet the queue themselves. Each cell is one run in virtual
time, so every machine prints the same.

Prints a table as Markdown. A cell has contracts 1 and 2 in percent of their payload and the Mbps of the others,
and the same of plain tunnels in brackets. `--check` ends with an error if a contract keeps less than 95 %, or 85 %
alongside BBR where plain tunnels keep no more.
"""

import argparse
import concurrent.futures
import json
import pathlib
import subprocess
import sys
import tempfile

CONTRACTS, WEIGHTS = (10, 5, 0), (1, 2, 1)
ALONGSIDE = "1 cubic,4 cubic,12 cubic,1 bbr,2 bbr,4 bbr,12 Mbps,1 % loss,both ways"
# Loss detection by time, as the kernel's TCP has it.
CONTROLLERS = {"cubic": '{ name = "cubic", rack = true }', "bbr": '"bbr1"'}
CONNECTIONS = 4
# Payload, packet inside of the tunnel, and on the wire.
PAYLOAD, INSIDE, WIRE = 1368, 1420, 1480


def link(name, ends, rate, delay, rest=""):
    return f'[link.{name}]\nfrom = "{ends[0]}"\nto = "{ends[1]}"\nrate = "{rate}"\ndelay = "{delay}"\n{rest}'


def sites(prefix, ways, system):
    """The tunnels of three sites from `ways[0]` over the core to `ways[3]`, and their connections."""
    host, west, east, server = ways
    text = ""
    for number, contract, weight in zip((1, 2, 3), CONTRACTS, WEIGHTS):
        name, through, size = f"{prefix}{number}", "", WIRE
        if system == "gateway":
            service = f'service = {{ contract = "{contract} Mbps", weight = {weight} }}\n' if contract else ""
            text += (
                f'[flow.{name}]\nfrom = "{west}"\nto = "{east}"\ncontroller = "monaco"\npacket = "{WIRE} B"\n'
                f'control = "140 B"\ntunnel = {{}}\n{service}'
            )
            through, size = f'through = "{name}"\n', INSIDE
        text += (
            f'[flow.{name}-users]\ncount = {CONNECTIONS}\nfrom = "{host}"\nto = "{server}"\n{through}packet = "{size} B"\n'
            f'controller = {CONTROLLERS["cubic"]}\nstart = {{ uniform = ["1 s", "2 s"] }}\n'
        )
    return text


def scenario(round_trip, buffer, alongside, system, seconds, settle):
    """The file of a cell: the round trip in ms, the buffer in products of rate and round trip."""
    limit = max(1, round(buffer * 30e6 / 8 * round_trip / 1e3))
    loss = 'loss = "1 %"\n' if alongside == "1 % loss" else ""
    queue = f'control_priority = false\nqueue = {{ discipline = "droptail", limit = "{limit} B" }}\n'
    text = f'title = "A cell"\nseed = 1\nduration = "{seconds} s"\nsteady = ["{settle} s", "{seconds} s"]\n'
    text += link("core", ("west", "hub"), "30 Mbps", f"{round_trip / 2 - 0.2} ms", queue + loss)
    text += link("lan", ("lan", "west"), "1 Gbps", "100 us") + link("far", ("hub", "far"), "1 Gbps", "100 us")
    text += sites("site", ("lan", "west", "hub", "far"), system)
    if alongside == "both ways":
        text += sites("back", ("far", "hub", "west", "lan"), system)
    count, _, kind = alongside.partition(" ")
    if kind in CONTROLLERS:
        text += f'[flow.outside]\ncount = {count}\nfrom = "lan"\nto = "far"\npacket = "1500 B"\n'
        text += f'controller = {CONTROLLERS[kind]}\nstart = {{ uniform = ["0 s", "2 s"] }}\n'
    if kind == "Mbps":
        text += f'[flow.outside]\nfrom = "lan"\nto = "far"\npacket = "1500 B"\ncontroller = "none"\ndemand = {{ constant = "{alongside}" }}\n'
    return text


def flows(alongside):
    """The number of flows of the group outside."""
    count, _, kind = alongside.partition(" ")
    return int(count) if kind in CONTROLLERS else 1 if kind == "Mbps" else 0


def kept(rates, system, prefix="site"):
    """What contracts 1 and 2 keep in percent, of mean rates by group in Mbps."""
    size = INSIDE if system == "gateway" else WIRE
    payload = [CONNECTIONS * rates[f"{prefix}{n}-users"] * PAYLOAD / size for n in (1, 2)]
    return [100 * p / (c * PAYLOAD / WIRE) for p, c in zip(payload, CONTRACTS)]


def run(program, text):
    """The mean rates in Mbps of a flow of each group."""
    with tempfile.TemporaryDirectory() as folder:
        file = pathlib.Path(folder, "cell.toml")
        file.write_text(text)
        words = [program, "run", file, "-e", "packet", "--json", "-q", "-o", pathlib.Path(folder, "out")]
        done = subprocess.run(words, capture_output=True, text=True)
        if not done.stdout:
            sys.exit(done.stderr)
    means = json.loads(done.stdout)["points"][0]["means"]
    rows = [row for row in means if row["quantity"] == "throughput" and row.get("group")]
    return {row["group"]: row["values"][0]["mean"] / 1e6 for row in rows}


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("accord")
    parser.add_argument("--round-trips", default="5,20,60,150", help="in ms")
    parser.add_argument("--buffers", default="0.3,1,4,10", help="in products of rate and round trip")
    parser.add_argument("--alongside", default=ALONGSIDE)
    parser.add_argument("--seconds", type=int, default=100)
    parser.add_argument("--settle", type=int, default=40, help="the seconds that do not count")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--check", action="store_true")
    options = parser.parse_args()
    buffers = [float(b) for b in options.buffers.split(",")]
    print("| round trip | alongside | " + " | ".join(f"{b:g} BDP" for b in buffers) + " |\n" + "|---" * (2 + len(buffers)) + "|")
    failed = 0
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        for round_trip in map(float, options.round_trips.split(",")):
            for alongside in options.alongside.split(","):
                cell = lambda buffer, system: pool.submit(
                    run, options.accord,
                    scenario(round_trip, buffer, alongside, system, options.seconds, options.settle),
                )
                pairs = [(cell(b, "gateway"), cell(b, "plain")) for b in buffers]
                cells = []
                for pair in pairs:
                    shown, have = [], []
                    for system, rates in zip(("gateway", "plain"), (p.result() for p in pair)):
                        parts = kept(rates, system)
                        if "back1-users" in rates:
                            parts = [min(p) for p in zip(parts, kept(rates, system, "back"))]
                        have.append(parts)
                        others = flows(alongside) * rates.get("outside", 0)
                        shown.append(", ".join([*(f"{p:.0f}" for p in parts), *([f"{others:.1f}"] if others else [])]))
                    least = 85 if "bbr" in alongside else 95
                    short = any(h < least or h < min(p, 95) for h, p in zip(*have))
                    failed += short
                    cells.append(f"{'**' * short}{shown[0]}{'**' * short} ({shown[1]})")
                print(f"| {round_trip:g} ms | {alongside} | {' | '.join(cells)} |", flush=True)
    if options.check and failed:
        sys.exit(f"{failed} cells fall short")


if __name__ == "__main__":
    main()
