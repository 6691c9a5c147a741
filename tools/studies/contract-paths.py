"""The flow of 208 ms of har02-fig6 under both ways back to a contract."""

from study import mbps, run, table

points = [run("har02-fig6", "--point", "law=accord", sets=sets)[0] for sets in ([], ['sweep.law.values.accord={name="monaco",recovery="packet"}'])]
rows = [("", '`recovery = "contract"` (default)', '`recovery = "packet"`')]
names = {
    "(0,3), 75 to 100 s": "15 to 25 s after others made room",
    "(0,3) beside the web": "alongside web users",
    "(2,0) beside the web": "flow of 10 ms alongside web users, contract of 30 Mbps",
}
for check, name in names.items():
    if points[0].has(check):
        rows.append((name, *(mbps(p.measured(check), 4 if "75" in check else 2) for p in points)))
table(*rows)
