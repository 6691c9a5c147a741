"""Random networks: the largest error of a flow's throughput, packets against theory.

One to four links in a row, of 10 to 60 Mbps; two to eight flows over one link or several in a row, with round trips
of 1 to 100 ms and weights of 1 to 3. Buffers have no limit, and each link is droptail or AVD by chance. Flows start
within a second; the second half of the run counts.

    python3 tools/studies/networks.py [--networks 40] [--law accord] [--packet "250 B"] [--held]
"""

import argparse
import pathlib
import random
import statistics
import tempfile

from study import percent, run, table


def scenario(draw, law, packet, seconds, held=False):
    """The text of a random network."""
    links = draw.randint(1, 4)
    holds = ", holds_physical = true" if held else ""
    text = [f'duration = "{seconds} s"', f'steady = ["{seconds // 2} s", "{seconds} s"]', 'sample = "100 ms"']
    for i in range(links):
        queue = draw.choice(["droptail", "avd"])
        text.append(
            f'[link.l{i}]\nfrom = "n{i}"\nto = "n{i + 1}"\nrate = "{draw.uniform(10, 60):.2f} Mbps"\n'
            f'delay = "{draw.uniform(0.1, 2):.2f} ms"\n'
            f'queue = {{ discipline = "{queue}", limit = "unlimited"{holds if queue == "avd" else ""} }}'
        )
    for i in range(draw.randint(2, 8)):
        first = draw.randrange(links)
        last = draw.randint(first + 1, links)
        half = draw.uniform(1, 100) / 2
        text.append(
            f'[flow.f{i}]\nfrom = "n{first}"\nto = "n{last}"\ncontroller = {{ name = "monaco", law = "{law}" }}\n'
            f'packet = "{packet}"\n'
            f"service = {{ weight = {draw.uniform(1, 3):.2f} }}\nstart = \"{draw.random():.3f} s\"\n"
            f'access = {{ rate = "1 Gbps", delay = "{half:.2f} ms" }}'
        )
    return "\n".join(text) + "\n"


def error(text):
    """The largest relative error of a flow in a network."""
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "network.toml"
        path.write_text(text)
        (point,) = run(str(path), engine="theory,packet")
    rows = [r for r in point.rows if r["quantity"] == "throughput" and "group" in r]
    return max(abs(r["error"]) for r in rows)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--networks", type=int, default=40)
    parser.add_argument("--seconds", type=int, default=80)
    parser.add_argument("--law", default="accord")
    parser.add_argument("--packet", default="1000 B")
    parser.add_argument("--held", action="store_true", help="AVD's virtual delay contains the physical one")
    asked = parser.parse_args()
    draw = random.Random(1)
    held = asked.held
    texts = [scenario(draw, asked.law, asked.packet, asked.seconds, held) for _ in range(asked.networks)]
    worst = sorted(error(text) for text in texts)
    nine = worst[int(0.9 * (len(worst) - 1))]
    table(
        ["networks", "median", "nine of ten", "worst"],
        [len(worst), percent(statistics.median(worst), 1), percent(nine, 1), percent(worst[-1], 1)],
    )


if __name__ == "__main__":
    main()
