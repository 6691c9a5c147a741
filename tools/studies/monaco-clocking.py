"""Monaco's laws where flows are alike (gains), on figure 6 of Xia05 (sets), and on figure 8 (avd)."""

import sys

from study import Recorded, digits, percent, run, table

PHASES = ("0 to 10 s", "10 to 20 s", "20 to 30 s", "30 to 40 s", "40 to 50 s")


def gains():
    names = {"printed": '`law = "printed"`', "paced": 'printed, `window = "open"`', "accord": '`law = "accord"`'}
    found = Recorded("monaco-clocking")
    rows = [("gain", "0.125", "0.25", "0.5")]
    for law, name in names.items():
        check = "paced without" if law == "paced" else "the queue stands"
        rows.append((name, *(f"{found(check, law=law, gain=gain, starts='spread'):.2f}" for gain in rows[0][1:])))
    table(*rows)


def sets():
    printed, ours = run("xia05-fig6")
    latest, _ = run("xia05-fig6", sets=['sweep.law.values.printed.rtt="latest"'])
    points = (printed, latest, ours)
    rows = [("", "printed", 'printed with `rtt = "latest"`', "ours")]
    for phase in PHASES:
        rows.append((f"variation, {phase}", *(f"{p.measured(f'variation of the queue, {phase}'):.2f}" for p in points)))
    rows.append(("packets lost", *(f"{p.measured('packets dropped'):.0f}" for p in points)))
    for i in (1, 2, 3):
        rows.append((f"rate of set {i}, 20 to 30 s, of 1.5 Mbps", *(f"{p.measured(f'set {i}, each flow, 20 to 30 s') / 1e6:.2f}" for p in points)))
    table(*rows)


def avd():
    found = Recorded("xia05-fig8")
    laws = [{"law": law, "control": "64 B"} for law in ("printed", "accord")]
    rows = [("", "printed", "ours")]
    for phase in PHASES:
        rows.append((f"utilisation, {phase}", *(percent(found(f"utilisation, {phase}", **law), 1) for law in laws)))
    rows.append(("queue in nine tenths of the time", *(f"{digits(found('queue, nine tenths', **law))} packets at most" for law in laws)))
    rows.append(("packets lost", *(f"{found('packets dropped', **law):.0f}" for law in laws)))
    table(*rows)


{"gains": gains, "sets": sets, "avd": avd}[sys.argv[1]]()
