"""Compares the verdicts on all families with those that tools/verdicts/record.txt records, with reasons.

    python3 tools/verdicts/compare.py target/release/accord rfc9743 buffers

runs the packs, by default all, over each of their families, with three seeds and without rivals.
It prints the sections that fail and are not recorded, and the recorded ones that did not fail, and ends
with 1 if there are any. A section that three seeds do not decide is not a failure. A line of the record: family, pack,
section and reason, separated by " | ".
"""

import json
import pathlib
import subprocess
import sys
import tempfile

RECORD = pathlib.Path(__file__).with_name("record.txt")
# Neither responds to congestion, and neither is a rival of a family that does.
NO_SUBJECTS = {"none"}


def output(*command):
    ended = subprocess.run(command, stdout=subprocess.PIPE, text=True)
    if ended.returncode > 1:
        sys.exit(f"{' '.join(command)} ended with {ended.returncode}")
    return json.loads(ended.stdout)


def verdicts(accord, packs):
    """Yields family, pack and section of each section that fails, and its line."""
    roles = {pack["name"]: pack["subject"] for pack in output(accord, "list", "packs", "--json")}
    for kind in ["controller", "discipline"]:
        names = [name for name in packs or roles if roles[name] == kind]
        families = output(accord, "list", f"{kind}s", "--json") if names else []
        for family in (entry["name"] for entry in families):
            if family in NO_SUBJECTS:
                continue
            with tempfile.TemporaryDirectory() as directory:
                common = ["--json", "--quiet", "--reps", "3", "--against", "", "-o", f"{directory}/out"]
                command = ["evaluate", "--pack", ",".join(names), "--subject", family, *common]
                for section in output(accord, *command)["sections"]:
                    if section["outcome"] == "FAIL":
                        yield (family, section["pack"], section["section"]), section["says"]


def recorded(packs):
    """Returns the recorded verdicts of the packs, each with its reason."""
    found = {}
    for number, line in enumerate(RECORD.read_text().splitlines(), 1):
        parts = [part.strip() for part in line.split(" | ")]
        if not line or line.startswith("#"):
            continue
        if len(parts) != 4 or not parts[3]:
            sys.exit(f"{RECORD}:{number}: a line has a family, pack, section and reason")
        if not packs or parts[1] in packs:
            found[tuple(parts[:3])] = parts[3]
    return found


def main(accord, *packs):
    known = recorded(packs)
    same = True
    for place, line in verdicts(accord, packs):
        if known.pop(place, None) is None:
            same = False
            print(f"not recorded: {' | '.join(place)} | {line}", flush=True)
    for place in known:
        same = False
        print(f"recorded, and does not fail: {' | '.join(place)}")
    sys.exit(0 if same else 1)


if __name__ == "__main__":
    main(*sys.argv[1:])
