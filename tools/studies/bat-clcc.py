"""BAT and CLCC against Ple03: recorded figures, and the used part of the link."""

from study import Recorded, digits, percent, run, table

fig8, fig4, table1, fig9 = (Recorded(f"ple03-{name}") for name in ("fig8", "fig4", "table1", "fig9"))


def ratios(found, name, share=None):
    """The ratio of UDP to TCP over its target, of the simulations with packets of 1500 B."""
    for at, engine, check, _, value in found.found:
        if engine == "packet" and check.startswith(name) and at["packet"] == "1500 B" and share in (None, at["share"]):
            part = float(at["share"].rstrip(" %")) / 100
            yield float(value) / (part / (1 - part))


def near(found, name):
    off = [abs(ratio - 1) for ratio in ratios(found, name)]
    return f"{sum(o <= 0.05 for o in off)} of {len(off)}, the farthest {percent(max(off))} off"


rows = [("quantity", "BAT alone", "CLCC", "ID")]
bat, clcc = ({"scheme": scheme} for scheme in ("bat", "bat-clcc"))
rows.append(("UDP : TCP, 0.43 wanted", digits(fig8("UDP/TCP ratio", **bat)), digits(fig8("UDP/TCP ratio", **clcc)), "ple03-fig8"))
rows.append(("fairness index", digits(fig8("fairness index", **bat)), digits(fig8("fairness index", **clcc)), "ple03-fig8"))
used = [percent(point.mean("bottleneck", "utilisation")) for point in run("ple03-fig8")]
rows.append(("the link is used", *used, "ple03-fig8"))
rows.append(("simulations within 5 % of the wanted ratio", near(fig4, "UDP/TCP ratio misses"), near(table1, "UDP/TCP ratio"), "ple03-fig4, ple03-table1"))
most = sorted(9 * ratio for ratio in ratios(table1, "UDP/TCP ratio", "90 %"))
rows.append(("UDP : TCP, 9 wanted", "–", f"{digits(most[0], 2)} to {digits(most[-1], 2)}", "ple03-table1"))
met, all_checks = fig9.met()
rows.append(("checks after changes of UDP, and in the long term", "–", f"{met} of {all_checks} met", "ple03-fig9"))
table(*rows)
