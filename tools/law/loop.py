#!/usr/bin/env python3
"""The linear loop of Monaco with one report per round trip: spectral radii of candidate laws.

    tools/law/loop.py            (needs numpy)

One step is one round trip of a flow. All amounts are deviations from the equilibrium, in bytes of
this flow. ε is the flow's share of a link whose other senders keep their rate; ε = 1 is a flow
alone, or many that are alike and move together. θ is the part of the round trip that is queue.

    Y(n+1) = Y(n) + ε·u(n)               what the pair that goes at report n will find queued
    sent(n) = u(n-1) + Y(n-1)            sent since the answered pair, which is what is in flight
    out(n) = (1 - ε)·u(n-2)              egress rate × round trip, as the report has it
    mean(n) = mean + g·(out - mean)      its moving average
    W(n) = W(n-1) - κ·(Y(n-1) + θ·mean(n))

and u(n), what the flow sends beyond its equilibrium until the next report, is the law.
"""

import numpy as np

KEEP = 4  # rounds of history that a law may look at


class Loop:
    """One flow. The state is Y, W, the mean, and the last values of u and Y."""

    def __init__(self, law, kappa, eps, theta, g=0.25):
        self.law, self.kappa, self.eps, self.theta, self.g = law, kappa, eps, theta, g
        self.size = 3 + 2 * KEEP

    def step(self, s):
        y, w, mean = s[0], s[1], s[2]
        u = s[3 : 3 + KEEP]  # u[0] = u(n-1), ...
        past = s[3 + KEEP :]  # past[0] = Y(n-1), ...
        out = (1 - self.eps) * u[1]
        before = mean
        mean = mean + self.g * (out - mean)
        step = -self.kappa * (past[0] + self.theta * mean)
        seen = dict(y=y, late=past[0], late2=past[1], u1=u[0], u2=u[1], out=out, mean=mean, before=w,
                    w=w + step, step=step, eps=self.eps, sent=u[0] + past[0], sent_before=u[1] + past[1], mean_before=before)
        new = self.law(seen)
        return np.concatenate(([y + self.eps * new, w + step, mean, new], u[:-1], [y], past[:-1]))

    def radius(self):
        matrix = np.array([self.step(e) for e in np.eye(self.size)]).T
        return max(abs(np.linalg.eigvals(matrix)))


def printed(s):
    """cwnd / rtt: the queue in it is a round trip old."""
    return s["w"] - s["late"]


def window(s):
    """A window of exactly cwnd per control period, and no rate: the ideal of step 4."""
    return s["w"] - s["y"]


def egress(s):
    """The egress rate, what the window grew by, a quarter of what is missing in flight."""
    return s["mean"] + s["step"] + 0.25 * (s["before"] - s["sent"])


def smith(p):
    """cwnd / rtt less p of the growth of what is in flight."""
    return lambda s: s["w"] - s["late"] - p * (s["sent"] - s["sent_before"])


def net(p):
    """cwnd / rtt less p of what went in faster than it came out: sent − mean egress × rtt."""
    return lambda s: s["w"] - s["late"] - p * (s["u1"] - s["mean"])


def mixed(k):
    """The clocked rate as far as k times the flow's share of its queue, the printed one beyond that."""
    return shaped(lambda eps: k * eps)


def shaped(part):
    """The clocked rate as far as `part` of the share, the printed one beyond that."""

    def law(s):
        m = min(1, part(s["eps"]))
        return m * egress(s) + (1 - m) * printed(s)

    return law


accord = shaped(lambda eps: eps * max(1, 4 * eps))


CASES = [(1, 0.1), (0.5, 0.1), (0.2, 0.06), (0.1, 0.06), (0.05, 0.06), (0.02, 0.03), (0.1, 0.4), (0.02, 0.005)]
LAWS = [("printed", printed), ("window, ideal", window), ("egress", egress), ("mixed 1", mixed(1)), ("mixed 2", mixed(2)), ("mixed 4", mixed(4)), ("accord", accord), ("ε + 2ε²", shaped(lambda eps: eps + 2 * eps**2))]
LAWS += [(f"smith {p}", smith(p)) for p in (0.25, 0.5, 0.75)]
LAWS += [(f"net {p}", net(p)) for p in (0.25, 0.5, 0.6, 0.75, 0.9, 1.0)]


def table(kappa, g=0.25):
    print(f"largest |eigenvalue| at gain {kappa}, weight of the mean {g}")
    print(f"{'':16}" + "".join(f" ε={e:<4} θ={t:<5}" for e, t in CASES))
    for name, law in LAWS:
        radii = [Loop(law, kappa, e, t, g).radius() for e, t in CASES]
        print(f"{name:16}" + "".join(f" {r:13.3f}" for r in radii))
    print()


def margin(law, eps, theta, g=0.25):
    """The largest gain at which the loop is stable."""
    low, high = 0.0, 8.0
    while high - low > 1e-3:
        middle = (low + high) / 2
        low, high = (middle, high) if Loop(law, middle, eps, theta, g).radius() < 1 else (low, middle)
    return low


if __name__ == "__main__":
    table(0.5)
    table(0.5, 0.5)
    print("largest stable gain, weight of the mean 0.5")
    for name, law in LAWS:
        print(f"{name:16}" + "".join(f" {margin(law, e, t, 0.5):13.2f}" for e, t in CASES))
