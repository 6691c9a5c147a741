"""Packets per second of one core, and the multiple of real time, of connections of quinn in packets.

    cargo build --release -p accord-quinn --example speed
    python3 tools/stacks/speed.py target/release/examples/speed

Each row is the difference between runs of 40 s and of 10 s, so the start of the program and the
handshakes do not count. Times are CPU times of the user, the least of five runs. A packet is a datagram
that either end sends. Two runs of one setting must have the same digest.
"""

import os
import subprocess
import sys

LENGTHS = (10, 40)


def run(program, stack, count, seconds):
    """Return the packets, the CPU time and the digest of a run."""
    child = subprocess.Popen([program, stack, str(count), str(seconds)], stdout=subprocess.PIPE, text=True)
    out = child.stdout.read()
    _, status, usage = os.wait4(child.pid, 0)
    if status != 0:
        sys.exit(f"{program} failed with {stack}")
    packets, digest = out.split()
    return int(packets), usage.ru_utime, digest


def main():
    program = sys.argv[1]
    print("| stack | connections | packets per second | × real time |")
    print("|---|---|---|---|")
    rows = [("quic = 'quinn'", n) for n in (1, 4, 32)] + [("quic = 'quinn-tls'", n) for n in (1, 4, 32)]
    for stack, count in rows + [("", 4)]:
        ends = []
        for seconds in LENGTHS:
            runs = [run(program, stack, count, seconds) for _ in range(5)]
            if len({digest for _, _, digest in runs}) != 1:
                sys.exit(f"{stack} is not repeatable")
            ends.append((runs[0][0], min(time for _, time, _ in runs)))
        (first, before), (second, after) = ends
        spent = after - before
        name = stack.split("'")[1] if stack else "our stream with quinn's CUBIC"
        rate, times = (second - first) / spent, (LENGTHS[1] - LENGTHS[0]) / spent
        print(f"| {name} | {count} | {rate / 1000:.0f} k | {times:.0f} |")


if __name__ == "__main__":
    main()
