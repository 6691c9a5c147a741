"""Measures the cost of a decision in Python, and prints a table.

    python tools/python/decisions.py

CPU time of whole runs, the least of five, of ten flows that fill a link of 1 Gbps for 10 s. All runs
move the same packets. Only the parts in Python differ.
"""

import time

import accord


class Slow(accord.Controller):
    """Slow start without an end, as NewReno's without a loss."""

    def on_ack(self, ack, path, now):
        """Grow by the acknowledged data."""
        if not ack.in_recovery and ack.window_limited:
            self.window += ack.bytes


class Pass(accord.Discipline):
    """Passes everything."""

    def on_arrival(self, packet, queue, now, uniform):
        """Pass."""
        return None


class PassBoth(Pass):
    """Passes everything, and is also asked at departures."""

    def on_departure(self, packet, sojourn, queue, now):
        """Pass."""
        return None


def seconds(scenario):
    """Return the CPU time of a run, and the run."""
    times = []
    for _ in range(5):
        before = time.process_time()
        run = scenario.run("packet")
        times.append(time.process_time() - before)
    return min(times), run


def main():
    """Print the table."""
    plain = accord.parse(
        """
        duration = "10 s"
        [topology.dumbbell]
        rate = "1 Gbps"
        delay = "20 ms"
        queue = { discipline = "droptail", limit = "1 GB" }
        [flow]
        all = { from = "left", to = "right", count = 10, controller = "newreno" }
        """
    )
    base, run = seconds(plain)
    # Each packet is 1000 bytes, and each is acknowledged.
    packets = run.mean("throughput", "all") * 10 * 10 / 8 / 1000
    rows = [("Rust's NewReno, droptail", base, run)]
    slow = plain.with_({"flow.all.controller": Slow})
    rows.append(("a controller's on_ack", *seconds(slow)))
    discipline = "topology.dumbbell.queue.discipline"
    rows.append(("a discipline's on_arrival", *seconds(plain.with_({discipline: Pass}))))
    both = plain.with_({discipline: PassBoth})
    rows.append(("on_arrival and on_departure", *seconds(both)))
    print(f"{packets:.0f} packets")
    print("| in Python | CPU time | more per packet |\n|---|---|---|")
    for name, spent, its in rows:
        assert abs(its.mean("throughput", "all") / run.mean("throughput", "all") - 1) < 0.01, name
        print(f"| {name} | {spent:.2f} s | {(spent - base) / packets * 1e6:.2f} µs |")


if __name__ == "__main__":
    main()
