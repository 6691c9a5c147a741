"""Ratios of a flow of weight w to a flow of weight 1."""

from study import Recorded, digits, percent, table

fig5 = Recorded("har02-fig5")
rows = [("weight", "ours, no AQM: ratio", "off", "ours, AVD: ratio", "off", "flow of the weight, off", "flows of weight 1, off",
         "har02, no AQM: flows of weight 1, times their share", "har02, AVD")]
for weight in (1, 10, 100, 300, 491, 1000, 2691, 10000):
    cells = [weight]
    for queue, used in (("droptail", 1.0), ("avd", 0.98)):
        at = {"law": "accord", "queue": queue, "weight": weight}
        heavy, light = fig5("rate of flow 0", **at), fig5("rate of the other", **at)
        cells += [digits(heavy / light, 4), percent(heavy / light / weight - 1, 1, sign=True)]
    due = used * 100e6 / (weight + 9)
    cells += [percent(off - 1, 1, sign=True) for off in (heavy / due / weight, light / due)]
    for queue, used in (("droptail", 1.0), ("avd", 0.98)):
        light = fig5("rate of the other", law="har02", queue=queue, weight=weight)
        cells.append(digits(light / (used * 100e6 / (weight + 9))))
    rows.append(cells)
table(*rows)
