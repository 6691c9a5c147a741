"""By how much Monaco's estimates are above the truth, over four seeds. Reads lot.toml of the page."""

from study import percent, run, table

EGRESS = [f"flow.{flow}.controller={{name=\"monaco\", clocking=\"egress\", egress_weight=0.25}}" for flow in ("long", "short")]
rows = [("clock", "access", "flow over", "1 hop", "2 hops", "3 hops")]
for clock, sets in (("default", []), ("egress", EGRESS)):
    points = run("lot.toml", "--reps", "4", sets=sets)
    for access in ("1 Gbps", "100 Mbps"):
        for flow, name in (("long", "all hops"), ("short", "one hop")):
            cells = []
            for hops in ("1", "2", "3"):
                point, = [p for p in points if p.settings == {"hops": hops, "access": access}]
                row = point.row(flow, "estimator_bias")
                cells.append(f"{percent(row['mean'], 1, sign=True)[:-2]} ± {percent(row['half_width'], 1)}")
            rows.append((clock, access, name, *cells))
table(*rows)
