"""Applies the changes of a list to a crate, and lists those that no test detects.

    python3 tools/mutants/chosen.py fluid [FILTER...]

A line of `tools/mutants/fluid.txt` has a file of `crates/fluid/src`, a piece of it that occurs once, a part of
that piece and what takes its place, between tabs; `-` deletes a statement. All changes are compiled into one
program, which makes the one whose number is in the environment. So a list costs one build. Files are changed
in place and restored after the build. A change is seen if a test fails or the tests take ten times as long.
Filters select tests. A piece that no longer occurs is reported, and is then left out.
"""

import json
import os
import pathlib
import signal
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
SWITCH = """
#[inline(always)]
pub(crate) fn mutant(n: u32) -> bool {
    static CHOSEN: std::sync::LazyLock<u32> = std::sync::LazyLock::new(|| {
        std::env::var("MUTANT").ok().and_then(|n| n.parse().ok()).unwrap_or(0)
    });
    *CHOSEN == n
}
"""


def changes(crate):
    """Returns the number, file, span and replacement of each change, and the texts of the files."""
    texts, found = {}, []
    lines = (ROOT / f"tools/mutants/{crate}.txt").read_text().splitlines()
    for number, line in enumerate(lines, 1):
        file, piece, old, new = line.replace("\\n", "\n").split("\t")
        path = ROOT / f"crates/{crate}/src/{file}.rs"
        text = texts.setdefault(path, path.read_text())
        if text.count(piece) != 1 or piece.count(old) != 1:
            print(f"{crate}.txt:{number}: {file} does not have {piece!r} once")
            continue
        start = text.index(piece) + piece.index(old)
        found.append((number, path, start, start + len(old), new))
    return texts, found


def switched(text, start, end, spans):
    """Returns the part of a text from `start` to `end` with its changes behind switches."""
    out, at = "", start
    for a, b in sorted({s[2:4] for s in spans}, key=lambda s: (s[0], -s[1])):
        if a < at:
            continue
        inner = [s for s in spans if a <= s[2] and s[3] <= b and s[2:4] != (a, b)]
        code = switched(text, a, b, inner)
        for number, _, _, _, new in (s for s in spans if s[2:4] == (a, b)):
            if new == "-":
                code = f"if !crate::mutant({number}) {{ {code} }}"
            elif new.endswith(";"):
                code = f"if crate::mutant({number}) {{ {new} }} else {{ {code} }}"
            else:
                code = f"(if crate::mutant({number}) {{ {new} }} else {{ {code} }})"
        out += text[at:a] + code
        at = b
    return out + text[at:end]


def build(crate):
    """Builds the test programs and returns their paths."""
    package = f"accord-{crate}"
    command = ["cargo", "test", "-p", package, "--lib", "--test", "all", "--no-run"]
    command.append("--message-format=json")
    output = subprocess.run(
        command, cwd=ROOT, stdout=subprocess.PIPE, check=True
    ).stdout
    messages = (json.loads(line) for line in output.splitlines())
    found = [m["executable"] for m in messages if m.get("executable")]
    return sorted(found, key=lambda program: "/all-" in program)


def run(program, crate, number, filters, limit):
    """Returns true if the tests pass."""
    environment = dict(os.environ, MUTANT=str(number))
    with subprocess.Popen(
        [program, *filters],
        cwd=ROOT / f"crates/{crate}",
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    ) as process:
        try:
            process.communicate(timeout=limit)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
        return process.wait() == 0


def main():
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    crate, filters = sys.argv[1], sys.argv[2:]
    texts, found = changes(crate)
    library = ROOT / f"crates/{crate}/src/lib.rs"
    texts.setdefault(library, library.read_text())
    try:
        for path, text in texts.items():
            spans = [s for s in found if s[1] == path]
            code = switched(text, 0, len(text), spans)
            path.write_text(code + SWITCH if path == library else code)
        programs = build(crate)
    finally:
        for path, text in texts.items():
            path.write_text(text)
    limits = {}
    for program in programs:
        began = time.monotonic()
        if not run(program, crate, 0, filters, None):
            sys.exit(f"{program} fails without a change")
        limits[program] = 10 * (time.monotonic() - began) + 60
    survivors = 0
    for number, path, start, end, new in found:
        if all(run(p, crate, number, filters, limits[p]) for p in programs):
            survivors += 1
            text = texts[path]
            line = text.count("\n", 0, start) + 1
            print(
                f"{path.relative_to(ROOT)}:{line}: {text[start:end]} => {new}",
                flush=True,
            )
    print(f"{len(found)} changes, {survivors} not seen")


if __name__ == "__main__":
    main()
