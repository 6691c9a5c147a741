"""A controller that keeps a target of its own data queued."""

import accord


class Keeper(accord.Controller):
    """Keeps a target of its own data queued, and halves its window after losses."""

    parameters = {"target": "10 pkt", "gain": 0.5}
    keeps = "target"

    def on_ack(self, ack, path, now):
        if ack.round_ended:
            queued = self.window * (1 - path.min_rtt / path.srtt)
            step = self.gain * (self.target - queued)
            self.window = max(self.packet, self.window + min(step, self.packet))

    def on_congestion(self, what, path, now):
        self.window = max(2 * self.packet, self.window / 2)
