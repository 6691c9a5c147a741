"""The mean rate of flows of weight 1 beside one of weight 1000, and how they differ."""

from study import digits, percent, run, table

rows = [("printed law", '`low_rate = "halve"`', '`low_rate = "smooth"`')]
for gain in (0.5, 0.1):
    cells = []
    for rule in ("halve", "smooth"):
        sets = [f"sweep.law.values.printed.gain={gain}", f'sweep.law.values.printed.low_rate="{rule}"']
        point, = run("har02-fig5", "--point", "law = printed, queue = avd, weight = 1000", sets=sets)
        cells.append(f"{point.mean('other', 'throughput') / 1e3:.1f} Kbps, {percent(point.mean('other', 'throughput_spread'), 1)}")
    rows.append((f"gain {gain}", *cells))
table(*rows)
