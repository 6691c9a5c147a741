"""Runs a transfer between two connections of aioquic in memory, and logs the sender.

    python aioquic_transfer.py sender.qlog

Datagrams take 20 ms each way by a clock of its own; every fiftieth is lost. Prints aioquic's own
counters of the sender as JSON: the bytes of its packets, and its last window.
"""

import datetime
import heapq
import json
import sys

from aioquic.quic.configuration import QuicConfiguration
from aioquic.quic.connection import QuicConnection
from aioquic.quic.logger import QuicLogger
from cryptography import x509
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec

SIZE = 1_000_000


def certificate():
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "peers")])
    now = datetime.datetime(2020, 1, 1)
    built = (x509.CertificateBuilder().subject_name(name).issuer_name(name).public_key(key.public_key())
             .serial_number(1).not_valid_before(now).not_valid_after(now.replace(year=2100)))
    return built.sign(key, hashes.SHA256()), key


def main():
    logger = QuicLogger()
    client = QuicConnection(configuration=QuicConfiguration(
        is_client=True, alpn_protocols=["peers"], verify_mode=0, quic_logger=logger))
    own, key = certificate()
    server = QuicConnection(
        configuration=QuicConfiguration(
            is_client=False, alpn_protocols=["peers"], certificate=own, private_key=key),
        original_destination_connection_id=client.original_destination_connection_id)
    now, under_way, count, sent = 0.0, [], 0, 0
    # The log has the times of this clock.
    import aioquic.quic.logger as module
    module.time = type("Clock", (), {"time": staticmethod(lambda: now)})
    client.connect(("127.0.0.1", 1), now=now)
    client.send_stream_data(2, bytes(SIZE), end_stream=True)
    while now < 60:
        for end, other in ((client, server), (server, client)):
            if not end._network_paths:
                continue  # The server has not heard of the client yet.
            for data, _ in end.datagrams_to_send(now=now):
                count += 1
                if end is client:
                    sent += len(data)
                if count % 50:
                    heapq.heappush(under_way, (now + 0.02, count, other, data))
        timers = [t for t in (client.get_timer(), server.get_timer()) if t is not None]
        times = [t[0] for t in under_way[:1]] + timers
        now = max(now, min(times))
        while under_way and under_way[0][0] <= now:
            _, _, end, data = heapq.heappop(under_way)
            end.receive_datagram(data, ("127.0.0.1", 1), now=now)
        for end in (client, server):
            timer = end.get_timer()
            if timer is not None and timer <= now:
                end.handle_timer(now=now)
        if client._streams.get(2) is None or client._streams[2].sender.is_finished:
            break
    json.dump(logger.to_dict(), open(sys.argv[1], "w"))
    print(json.dumps({"sent": sent, "cwnd": client._loss._cc.congestion_window}))


main()
