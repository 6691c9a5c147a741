"""What is left of a contract on an access link that loses packets, and what the answer to a loss does beside TCP.

With the argument `beside`: one site and one flow of TCP in a queue, by what a loss halves.
"""

import sys

from study import digits, run, table

HALVES = {"the window": "window", "the accumulation": "accumulation"}


def lossy():
    ways = {f"site, {what}": [f'flow.site.controller.loss="{word}"'] for what, word in HALVES.items()}
    ways['site, the window, `recovery = "packet"`'] = ['flow.site.controller.recovery="packet"']
    rows = [("lost", *ways, "each of the others, the window", "each of the others, the accumulation")]
    for loss in (0, 0.001, 0.01, 0.03):
        cells, others = [f"{100 * loss:g} %" if loss else "none"], []
        for sets in ways.values():
            point, = run("docs/examples/contract-loss.toml", "--reps", "4", sets=[f"flow.site.access.loss={loss}", *sets])
            row = point.row("site", "throughput")
            cells.append(f"{row['mean'] / 1e6:.2f} ± {row['half_width'] / 1e6:.2f} Mbps")
            others.append(f"{digits(point.mean('plain', 'throughput') / 1e6)} Mbps")
        rows.append((*cells, *others[:2]))
    table(*rows)


def beside():
    """Pairs of site and neighbour, by buffer."""
    buffers = ("20 KB", "50 KB", "250 KB", "1250 KB")
    rows = [("beside", "pairs", "contract", "a loss halves", *buffers)]
    for neighbour in ("cubic", "bbr3"):
        for first in ("true", "false"):
            for contract in ("0 bps", "10 Mbps"):
                for what, word in HALVES.items():
                    cells = []
                    for buffer in buffers:
                        point, = run("docs/examples/contract-loss-beside.toml", sets=[
                            f'flow.beside.controller="{neighbour}"', f'flow.site.service.contract="{contract}"',
                            f'flow.site.controller.loss="{word}"', f"topology.dumbbell.control_priority={first}",
                            f'topology.dumbbell.queue.limit="{buffer}"'])
                        both = (digits(point.mean(flow, "throughput") / 1e6) for flow in ("site", "beside"))
                        cells.append(" and ".join(both))
                    rows.append((neighbour.upper()[:5], "see" if first == "true" else "are blind",
                                 "none" if contract[0] == "0" else contract, what, *cells))
    table(*rows)


beside() if sys.argv[1:] == ["beside"] else lossy()
