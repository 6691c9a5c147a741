"""Variation of the queue of a flow beside 90 Mbps that do not respond, and rates of har02-fig6 that are off."""

import sys

from study import run, table

LAWS = {'`clocking = "egress"`': 'clocking="egress"', "our law": "", '`law = "printed"`': 'law="printed"'}
GAINS = (0.02, 0.05, 0.125, 0.25, 0.5)


def beside_constant():
    rows = [("gain", *GAINS)]
    for theta, delay in ((0.06, ['flow.monaco.access.delay="20 ms"']), (0.4, [])):
        for name, law in LAWS.items():
            sets = [f"flow.monaco.controller.{law}"] * bool(law) + delay
            cells = []
            for gain in GAINS:
                point, = run("docs/examples/beside-constant.toml", sets=[f"flow.monaco.controller.gain={gain}", *sets])
                cells.append(f"{point.measured('the queue rests'):.2f}")
            rows.append((f"θ = {theta}, {name}", *cells))
    table(*rows)


def har02_fig6():
    rows = [("har02-fig6", "rates farther than 10 % from theory")]
    for name, law in LAWS.items():
        label = "printed" if "printed" in law else "accord"
        sets = [f'sweep.law.values.accord={{name="monaco", {law}}}'] if "clocking" in law else []
        point, = run("har02-fig6", "--point", f"law={label}", sets=sets)
        rates = [c["pass"] for (e, _), c in point.checks.items() if e == "packet" and c["metric"] == "throughput"]
        rows.append((name, f"{rates.count(False)} of {len(rates)}"))
    table(*rows)


har02_fig6() if sys.argv[1:] else beside_constant()
