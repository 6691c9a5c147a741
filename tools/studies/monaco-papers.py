"""Our law on figures of Xia05: what `./test` records, and the printed law without its window on figure 9."""

from study import Recorded, percent, run, table

fig5, fig6, fig7, fig8, fig9 = (Recorded(f"xia05-fig{i}") for i in (5, 6, 7, 8, 9))
OURS = {"law": "accord"}
# Packets a quarter as large, and the same targets in bytes.
SMALL = ['flow.long.packet="250 B"', 'flow.short.packet="250 B"', 'sweep.law.values.accord={name="monaco", target="3000 B"}']
LONG = "long flows, each"
rows = [("figure", "what", "measured")]
phases = {"0 to 10 s": 30, "10 to 20 s": 45, "20 to 30 s": 60, "30 to 40 s": 30, "40 to 50 s": 15}
for word, unit in (("bytes", 1000), ("packets", 1)):
    most = max(fig6(f"queue in {word}, {phase}", **OURS) / unit / wanted for phase, wanted in phases.items())
    rows.append(("xia05-fig6", f"queue in {word} over 3 packets per flow, at most", percent(most - 1, sign=True)))
rows.append(("xia05-fig6", "packets lost", f"{fig6('packets dropped', **OURS):.0f}"))
for grows in ("forward", "both"):
    rows.append(("xia05-fig5", f"utilisation after the delay grew, {grows}", percent(fig5("Monaco: utilisation", grows=grows, **OURS))))
rows.append(("xia05-fig7", "packets lost in 10-20 s, a buffer of 55 packets", f"{fig7('packets dropped, 10 to 20 s', buffer='55 pkt', **OURS):.0f}"))
rates = [fig8(f"set {i}, each flow, 20 to 30 s", control="64 B", **OURS) / 1.47e6 - 1 for i in (1, 2, 3)]
rows.append(("xia05-fig8", "rates of the three sets in 20-30 s, against theory", ", ".join(percent(r, 1, sign=True) for r in rates)))
for n in ("8", "9"):
    theory = fig9(LONG, "theory", N=n, **OURS)
    for law, name in (("accord", "ours"), ("printed", "printed")):
        rows.append(("xia05-fig9", f"long flows over {n} bottlenecks against theory, {name}", percent(fig9(LONG, law=law, N=n) / theory - 1, sign=True)))
opened, = run("xia05-fig9", "--point", "law = printed, N = 9", sets=['sweep.law.values.printed.window="open"'])
rows.append(("xia05-fig9", 'long flows over 9 bottlenecks, printed with `window = "open"`', percent(opened.measured(LONG) / theory - 1, sign=True)))
small, = run("xia05-fig9", "--point", "law = accord, N = 9", sets=SMALL)
rows.append(("xia05-fig9", "long flows over 9 bottlenecks, ours with packets of 250 B", percent(small.measured(LONG) / theory - 1, sign=True)))
table(*rows)
