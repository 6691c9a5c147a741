"""One-way delays of packets, between two namespaces of this machine, from the sender's clock to the kernel's stamp of
the arrival. `probe.py serve SAMPLES MILLISECONDS` prints the median and the 99th percentile beyond MILLISECONDS, in
microseconds; `probe.py send ADDRESS SAMPLES` sends one packet per 2 ms.
"""

import socket
import statistics
import struct
import sys
import time

PORT = 7
SO_TIMESTAMPNS = 35

role, *rest = sys.argv[1:]
with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as udp:
    if role == "send":
        for _ in range(int(rest[1])):
            udp.sendto(time.time_ns().to_bytes(8, "big"), (rest[0], PORT))
            time.sleep(0.002)
    else:
        udp.bind(("0.0.0.0", PORT))
        udp.setsockopt(socket.SOL_SOCKET, SO_TIMESTAMPNS, 1)
        udp.settimeout(5)
        late = []
        for _ in range(int(rest[0])):
            try:
                data, [(_, _, stamp)], *_ = udp.recvmsg(100, 100)
            except TimeoutError:
                break
            # The others follow soon, or are lost.
            udp.settimeout(1)
            seconds, nanos = struct.unpack("qq", stamp)
            beyond = seconds * 1_000_000_000 + nanos - int.from_bytes(data, "big") - float(rest[1]) * 1e6
            late.append(beyond / 1000)
        print(statistics.median(late), statistics.quantiles(late, n=100)[98])
