"""D of CLCC between two CBR flows, by the gain: mean, variation and extremes over the second half of the run."""

import csv
import statistics
import tempfile

from study import called, percent, table

GAINS = (0.05, 0.2, 0.5, 1.0, 1.5, 1.8, 2.2, 2.5, 3.0, 4.0)
rows = [("gain", "mean of D", "variation of D", "least", "largest")]
with tempfile.TemporaryDirectory() as out:
    called("run", "clcc-gain", "-e", "packet", "-q", "--csv", "-o", out)
    for i, gain in enumerate(GAINS, 1):
        with open(f"{out}/{i:03}/series.csv") as file:
            found = [float(row[7]) for row in csv.reader(file) if row[3:5] == ["bottleneck.b", "decrease_factor"] and row[7]]
        last = found[len(found) // 2 :]
        mean = statistics.mean(last)
        rows.append((gain, f"{mean:.4f}", percent(statistics.pstdev(last) / mean, 1), f"{min(last):.3f}", f"{max(last):.3f}"))
table(*rows)
