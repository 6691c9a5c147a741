"""The least change of link.toml (of the page) that breaks its property, by controller."""

import re
import tempfile

from study import called, table

VARY = ("link.bottleneck.rate=1 Mbps..100 Mbps", "link.bottleneck.delay=1 ms..200 ms", "event.1.delay=1 ms..200 ms")
rows = [("controller", "least change found", "utilisation")]
with tempfile.TemporaryDirectory() as out:
    for name, title in (("vegas", "Vegas"), ("monaco", "Monaco"), ("bbr3", "BBRv3"), ("cubic", "CUBIC")):
        words = ["attack", "link.toml", "--property", "utilisation > 0.8", "--runs", "100", "-q", "-o", f"{out}/{name}.toml"]
        said = called(*words, *[w for v in VARY for w in ("--vary", v)], "--set", f"flow.all.controller={name}")
        left = ", ".join(f"`{change}`" for change in re.findall(r"^  (\S+=.*)$", said, re.M))
        rows.append((title, left, re.search(r"is ([\d.]+ %)", said)[1]))
table(*rows)
