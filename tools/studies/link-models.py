"""Variation of the queue in fluid and packets, by gain."""

from study import percent, run, table

NAMES = {"accord": "packets, our law", "egress": 'our law, `clocking = "egress"`', "printed": "packets, printed", "paced": "printed without the window"}
points = run("fluid-links", engine="fluid,packet")
laws = list(dict.fromkeys(p.settings["law"] for p in points))
print(laws)
