"""Rates of UDP and TCP over seven disciplines."""

from study import percent, run, table

NAMES = {"droptail": "droptail", "red": "RED", "codel": "CoDel", "pie": "PIE", "fq-codel": "FQ-CoDel", "bat": "BAT", "bat-clcc": "BAT with CLCC"}


def ms(seconds):
    return f"{1000 * seconds:.1f} ms"


def lost(point, kind, rate):
    """Of the packets of 1500 B that the receivers got in 80 s and those that were lost."""
    packets = point.measured(f"losses of {kind}")
    return percent(packets / (packets + rate * 80 / 8 / 1500))


rows = [("discipline", "UDP, Mbps", "TCP, Mbps", "index, 30 : 70", "index among TCP", "link used", "queue", "round trip of the nearest TCP", "UDP lost", "TCP lost")]
for point in run("unresponsive-comparison"):
    udp, tcp = point.mean("udp", "throughput"), 100 * point.mean("tcp", "throughput")
    rows.append((
        NAMES[point.settings["discipline"]], f"{udp / 1e6:.1f}", f"{tcp / 1e6:.1f}",
        f"{point.mean('bottleneck', 'aggregate_fairness'):.2f}", f"{point.measured('among TCP'):.2f}",
        percent(point.mean("bottleneck", "utilisation")), ms(point.mean("bottleneck", "price")),
        ms(point.measured("round trip of the nearest")) if point.has("round trip of the nearest") else "–",
        lost(point, "UDP", udp), lost(point, "TCP", tcp),
    ))
table(*rows)
