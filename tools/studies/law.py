"""Monaco's laws: checks of packets that fail (figures), and the queue beside a constant sender (beside)."""

import sys

from study import Recorded, run, table

FIGURES = """xia05-fig2 xia05-fig4 xia05-fig5 xia05-fig6 xia05-fig7 xia05-fig8 xia05-fig9 xia05-fig9-100ms xia05-fig10 xia03-fig4
xia03-fig4-100ms har02-fig4 har02-fig4-avd har02-fig5 har02-fig6 har02-fig6-gain har02-fig7 monaco-clocking fluid-links""".split()
LAWS = {"accord": "", "printed": 'law="printed"', '`clocking = "egress"`': 'clocking="egress"'}


def figures():
    rows, sums = [("figure", "printed", "ours")], [[0, 0], [0, 0], [0, 0], [0, 0]]
    for figure in FIGURES:
        found, cells = Recorded(figure), []
        for i, law in enumerate(("printed", "accord")):
            met, of = found.met(law=law)
            cells.append(f"{of - met} of {of}")
            for total in [sums[i]] + [sums[2 + i]] * (figure != "fluid-links"):
                total[0] += of - met
                total[1] += of
        rows.append((figure, *cells))
    for name, pair in (("all", sums[:2]), ("all without fluid-links", sums[2:])):
        rows.append((name, *(f"{failed} of {of}" for failed, of in pair)))
    table(*rows)


def beside():
    rates = (95, 90, 80, 50, 1)
    rows = [("law, one-way access delay", *(f"{rate} Mbps" for rate in rates))]
    for name, law in LAWS.items():
        for delay in (1, 20, 100):
            cells = []
            for rate in rates:
                sets = [f"flow.monaco.controller.{law}"] * bool(law) + [f'flow.constant.demand.constant="{rate} Mbps"']
                sets += [f'flow.monaco.access.delay="{delay} ms"', 'duration="120 s"', 'steady=["60 s","120 s"]']
                point, = run("docs/examples/beside-constant.toml", sets=sets)
                cells.append(f"{point.measured('the queue rests'):.3f}")
            rows.append((f"{name}, {delay} ms", *cells))
    table(*rows)


{"figures": figures, "beside": beside}[sys.argv[1]]()
