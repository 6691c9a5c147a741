"""Variation of the queue in fluid and packets, by gain: as recorded, and our law with the egress clock."""

from study import Recorded, percent, run, table

EGRESS = 'sweep.law.values.accord={"flow.f.controller.law"="accord", "flow.f.controller.clocking"="egress"}'
GAINS = ("0.4", "0.7", "1.0", "1.4", "2.0")
found = Recorded("fluid-links")


def recorded(engine, law, gain, model="ack-clocked"):
    return percent(found("", engine, law=law, gain=gain, link_model=model))


points = [word for gain in GAINS for word in ("--point", f"law=accord, gain={gain}, link_model=ack-clocked")]
egress = {point.settings["gain"]: point for point in run("fluid-links", *points, sets=[EGRESS])}
rows = [("gain", "integrator", "ACK-clocked", "packets, our law", 'our law, `clocking = "egress"`', "packets, printed", "printed without the window")]
for gain in GAINS:
    check, = egress[gain].checks.values()
    rows.append((
        gain, recorded("fluid", "accord", gain, "integrator"), recorded("fluid", "accord", gain), recorded("packet", "accord", gain),
        percent(check["measured"]), recorded("packet", "printed", gain), recorded("packet", "paced", gain),
    ))
table(*rows)
