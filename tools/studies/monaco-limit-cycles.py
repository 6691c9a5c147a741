"""Variation of the queue of a flow beside 90 Mbps that do not respond."""

from study import run, table

LAWS = {'`clocking = "egress"`': ['flow.monaco.controller.clocking="egress"'], "our law": [], '`law = "printed"`': ['flow.monaco.controller.law="printed"']}
GAINS = (0.02, 0.05, 0.125, 0.25, 0.5)
rows = [("gain", *GAINS)]
for theta, delay in ((0.06, ['flow.monaco.access.delay="20 ms"']), (0.4, [])):
    for name, law in LAWS.items():
        cells = []
        for gain in GAINS:
            point, = run("docs/examples/beside-constant.toml", sets=[f"flow.monaco.controller.gain={gain}", *law, *delay])
            cells.append(f"{point.measured('the queue rests'):.2f}")
        rows.append((f"θ = {theta}, {name}", *cells))
table(*rows)
