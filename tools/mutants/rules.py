"""Changes rules of source files one by one, and lists the changes that no test detects.

    python3 tools/mutants/rules.py FILE... -- CARGO-TEST-ARGUMENTS

for example

    python3 tools/mutants/rules.py crates/aqm/src/codel.rs -- -p accord-aqm --test all codel

cargo-mutants changes operators and replaces functions. This program makes the changes that it does not
make: a statement is deleted, an operand of a condition or a bound (`.max(x)`, `.min(x)`) is left out, a
number is another one. A change is seen if the tests fail or take ten times as long. Files are changed in
place and restored, so nothing else should be built from the checkout at the time. Lines that do not
compile when changed do not count. Nothing is said about the unit tests at the end of a file.
"""

import os
import re
import signal
import subprocess
import sys
import time

NUMBER = r"(?<![\w.])\d[\d_]*(\.\d+)?(e-?\d+)?(?![\w.])"
ARGUMENT = r"(?:[^()]|\((?:[^()]|\([^()]*\))*\))+"
STATEMENT = re.compile(
    r"(self\.|\*|[a-z_]+(\.[a-z_0-9]+)*(\[.*\])? ([-+*/|&]|)= |[a-z_]+(\.[a-z_]+)*\(|\().*;$"
)
NO_STATEMENT = re.compile(r"(let|return|break|continue|use|debug_assert)\b")
CONDITION = re.compile(r"(\s*(?:\} else )?(?:if|while) )(.*) (?:&&|\|\|) (.*) \{$")


def another(number):
    """Returns a number near to this one."""
    digits = number.replace("_", "")
    if "." in digits or "e" in digits:
        return repr(float(digits) * 1.15 or 0.1)
    return str(int(digits) + 1)


def balanced(text):
    return text.count("(") == text.count(")")


def numbers(code, start=0):
    for m in re.finditer(NUMBER, code[start:]):
        at = start + m.start()
        if not code[:at].endswith((".", "<")):
            yield code[:at] + another(m.group(0)) + code[start + m.end() :]


def changes(lines):
    """Yields the index of a line, and the line that replaces it."""
    for i, line in enumerate(lines):
        if "#[cfg(test)]" in line:
            return
        text = line.strip()
        if not text or text.startswith(("//", "#")):
            continue
        if re.match(r"(pub(\(\w+\))? )?const [A-Z_]+:", text) and "=" in line:
            yield from ((i, new) for new in numbers(line, line.index("=")))
        elif text.startswith('default: "'):
            m = re.search(r"\d+(\.\d+)?", line)
            if m:
                yield i, line[: m.start()] + another(m.group(0)) + line[m.end() :]
        elif line.startswith(" " * 8) and '"' not in line:
            yield from ((i, new) for new in within(lines, i))


def within(lines, i):
    """Changes of a line of a function."""
    line, text = lines[i], lines[i].strip()
    before = lines[i - 1].strip()
    begins = before[-1:] in "{};," or before.startswith("//")
    if (
        STATEMENT.match(text)
        and not NO_STATEMENT.match(text)
        and balanced(text)
        and begins
    ):
        yield "{}"
    m = CONDITION.match(line)
    if m and balanced(m.group(2)) and "let " not in line:
        yield m.group(1) + m.group(2) + " {"
        yield m.group(1) + m.group(3) + " {"
    if text.startswith(("&& ", "|| ")) and balanced(text) and not text.endswith("{"):
        yield ";" if text.endswith(";") else ""
    for m in re.finditer(rf"\.(max|min|clamp)\({ARGUMENT}\)", line):
        yield line[: m.start()] + line[m.end() :]
    if not re.match(r"\(-?[\d.]+, [\d.]+\),$|(min|max): ", text):
        yield from numbers(line)


def test(arguments, limit):
    """The exit code of the tests, or nothing if they take too long, and what they print."""
    command = ["cargo", "test", "--quiet", *arguments]
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.STDOUT, "text": True}
    with subprocess.Popen(command, start_new_session=True, **pipes) as process:
        try:
            output, _ = process.communicate(timeout=limit)
            return process.returncode, output
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            return None, ""


def main():
    split = sys.argv.index("--") if "--" in sys.argv else 0
    files, arguments = sys.argv[1:split], sys.argv[split + 1 :]
    if not files or not arguments:
        sys.exit(__doc__)
    code, output = test(arguments, None)
    if code != 0:
        sys.exit(output + "the tests fail without a change")
    began = time.monotonic()
    test(arguments, None)
    limit = 10 * (time.monotonic() - began) + 60
    made = 0
    survivors = 0
    for file in files:
        with open(file) as source:
            whole = source.read()
        lines = whole.split("\n")
        for i, new in changes(lines):
            try:
                with open(file, "w") as source:
                    source.write("\n".join([*lines[:i], new, *lines[i + 1 :]]))
                code, output = test(arguments, limit)
            finally:
                with open(file, "w") as source:
                    source.write(whole)
            if code and "could not compile" in output:
                continue
            made += 1
            if code == 0:
                survivors += 1
                print(
                    f"{file}:{i + 1}: {lines[i].strip()} => {new.strip()}", flush=True
                )
    print(f"{made} changes, {survivors} not seen")


if __name__ == "__main__":
    main()
