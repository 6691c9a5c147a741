"""Utilisations of low02-fig7 in its five periods, with one setting changed."""

from study import run, table

QUEUE = "topology.dumbbell.queue"
SETTINGS = [
    [], ["flow.host.controller.memory=8"], ["flow.host.controller.memory=16"], ["flow.host.controller.memory=128"],
    ['flow.host.controller.base_rtt="known"'], ['flow.host.controller.initial_window="1 pkt"'], ['flow.host.controller.gamma="2 pkt"'],
    ['flow.host.ack="1 B"'], ['flow.host.access.rate="50 Mbps"'], ['flow.host.processing="100 us"'], ["flow.host.pacing=true"],
    ['flow.host.min_rto="1 s"'], [f'{QUEUE}.limit="50 pkt"'],
    ['topology.dumbbell.delay="5 ms"', 'flow.host.access.delay=["0 ms", "0 ms", "5 ms", "0 ms", "10 ms"]', 'flow.host.egress.delay="0 ms"'],
    ['flow.host.packet="250 B"', f'{QUEUE}.packet="250 B"'], [f"{QUEUE}.gain=0.001"], [f"{QUEUE}.backlog_weight=0.1"], [f'{QUEUE}.period="10 ms"'],
]
rows = [("setting", *(f"period {i}" for i in range(1, 6))), ("the paper", 90, 96, 93, 91, 90)]
for sets in SETTINGS:
    point, = run("low02-fig7", "--reps", "5", sets=sets)
    rows.append((", ".join(f"`{s}`" for s in sets) or "as it is", *(f"{100 * point.measured(f'period {i}: utilisation'):.1f}" for i in range(1, 6))))
table(*rows)
