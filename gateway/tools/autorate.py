"""A shaper whose rate follows delay, as cake-autorate's rule has it: a baseline to compare gateways with.

It runs at the site by `matrix.py` and changes the rate of the HTB class of all tunnels. The rule is that of
cake-autorate 3 [https://github.com/lynxthecat/cake-autorate]: a round trip is delayed if it is more than `THRESHOLD`
above its baseline. The baseline follows round trips above it slowly and those below it quickly. At least `DETECTED`
delayed ones among the latest `WINDOW` are bufferbloat: the rate falls at once, and not again for `REFRACTORY`. Without
delay the rate grows under high load, and else goes back to the base rate. Round trips stand for one-way delays.
"""

import collections
import socket
import struct
import subprocess
import time

from crossing import ECHO, THERE

EVERY = 0.05
THRESHOLD = 0.010
WINDOW, DETECTED = 6, 3
UP, DOWN = 1.04, 0.85
RETURN = 1.01, 0.99
BASELINE_UP, BASELINE_DOWN = 0.001, 0.9
REFRACTORY, DECAY = 0.3, 1.0
HIGH_LOAD = 0.75


def sent_bytes():
    with open("/sys/class/net/w/statistics/tx_bytes") as file:
        return int(file.read())


def run(least, base, most):
    """Changes the rate, in Mbps, from `least` to `most`."""
    probe = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    probe.settimeout(0.5)
    rate, baseline, delays = base, None, collections.deque(maxlen=WINDOW)
    changed = decayed = counted_at = time.monotonic()
    counted, load = sent_bytes(), 0.0
    while True:
        began = time.monotonic()
        probe.sendto(struct.pack("d", began), (THERE, ECHO))
        try:
            round_trip = time.monotonic() - struct.unpack("d", probe.recv(100))[0]
        except TimeoutError:
            round_trip = 0.5
        now = time.monotonic()
        baseline = round_trip if baseline is None else baseline
        weight = BASELINE_UP if round_trip > baseline else BASELINE_DOWN
        baseline += weight * (round_trip - baseline)
        delays.append(round_trip - baseline > THRESHOLD)
        if now - counted_at >= 0.2:
            bytes_now = sent_bytes()
            load = (bytes_now - counted) * 8e-6 / (now - counted_at) / rate
            counted, counted_at = bytes_now, now
        before = rate
        if sum(delays) >= DETECTED:
            if now - changed >= REFRACTORY:
                rate, changed = rate * DOWN, now
        elif load > HIGH_LOAD:
            if now - changed >= REFRACTORY and not delays[-1]:
                rate *= UP ** (EVERY / 0.2)
        elif now - decayed >= DECAY:
            rate, decayed = rate * RETURN[0 if rate < base else 1], now
        rate = min(max(rate, least), most)
        if rate != before:
            words = f"class replace dev w parent 1: classid 1:9 htb rate {round(rate * 1000)}kbit burst 3200 cburst 3200"
            subprocess.run(["tc", *words.split()], check=False)
        time.sleep(max(0, began + EVERY - time.monotonic()))
