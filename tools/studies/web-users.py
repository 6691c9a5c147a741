"""The load of 500 web users in 30 to 60 s, by seed. Reads web.toml of the page."""

from study import mbps, run, table

rows = [("seed", "500 users, 30-60 s")]
for seed in ("1", "2", "3"):
    point, = run("web.toml", "--seed", seed, sets=["flow.web.count=500", 'steady=["30 s", "60 s"]'])
    rows.append((seed, mbps(point.mean("web", "throughput"))))
table(*rows)
