/* SPDX-License-Identifier: MIT OR GPL-2.0 */
/* A congestion control of Linux TCP that carries out the decisions of a program, and Reno's without them.
 *
 * The program reads `reports` and answers in `decisions`. A report has totals, so one that finds no room
 * is made up for by the next. A decision says which report it answers.
 *
 * While no answer comes for SILENCE round trips, and for SILENCE_NS, the window is halved once and grows by Reno
 * [RFC 5681]. The next answer to a report that is not older than that takes over again. After a timeout the
 * window is the kernel's, in slow start, until an answer knows of the timeout.
 *
 * The layout of `struct report` and `struct decision` is that of integrations/kernel/src/report.rs. */
#include "kernel.h"

char LICENSE[] SEC("license") = "Dual MIT/GPL";

/* The round trips without an answer after which a connection goes on by itself. */
#define SILENCE 4
/* The time of silence that has to pass in addition, for paths shorter than the answer of any program. */
#define SILENCE_NS 10000000ULL
/* The connections that can be controlled at a time. */
#define SLOTS 16384
/* The largest window in packets. */
#define LARGEST_WINDOW (1U << 20)
/* The packets per second of the slowest pace. */
#define SLOWEST 10
#define UNLIMITED (~0ULL)

/* Flags of a report. */
enum {
	CLOSED = 1,
	WINDOW_LIMITED = 2,
	APP_LIMITED = 4,
	ALONE = 8,
	SAMPLE = 16,
	ACKNOWLEDGED = 32,
};

struct report {
	u64 now;
	u64 pacing_rate;
	u32 slot;
	u32 generation;
	u32 number;
	u32 flags;
	u32 state;
	u32 rounds;
	u32 delivered;
	u32 delivered_ce;
	u32 lost;
	u32 sent;
	s32 rtt_us;
	s32 least_rtt_us;
	u32 srtt_us;
	u32 sample_delivered;
	u32 sample_prior;
	u32 sample_interval_us;
	u32 in_flight;
	u32 prior_in_flight;
	u32 unacknowledged;
	u32 cwnd;
	u32 ssthresh;
	u32 mss;
	u32 header;
	u32 losses;
	u32 timeouts;
	u32 repeated_timeouts;
	u32 marks;
	u32 undone;
	u32 idles;
	u32 restarts;
};

struct decision {
	u32 version;
	u32 generation;
	u32 answered;
	u32 cwnd;
	u32 ssthresh;
	u32 limited;
	u64 pace;
	u64 stamp;
	u8 rest[24];
};

/* The ends of a connection. */
struct peer {
	u16 family;
	u16 port;
	u16 own_port;
	u16 rest;
	u32 address[4];
	u32 own_address[4];
	u32 namespace;
};

/* The state of a connection, in icsk_ca_priv. */
struct own {
	/* When the wait for the next answer began. */
	u64 waits_ns;
	u64 acked_ns;
	u64 pace;
	/* One more than the slot; 0 for none. */
	u32 slot;
	u32 generation;
	/* The number of the last report, of the report that the decision in force answers, and of the first report
	 * that knows of the last timeout. */
	u32 number;
	u32 answered;
	u32 hold;
	u32 rounds;
	u32 round_end;
	u32 waits_round;
	u32 told_round;
	s32 least_rtt_us;
	u32 limited;
	u16 losses;
	u16 timeouts;
	u16 repeated_timeouts;
	u16 marks;
	u16 undone;
	u16 idles;
	u16 restarts;
	u8 state;
	u8 alone;
	u32 window_limited;
	u32 told_events;
};
_Static_assert(sizeof(struct own) <= 13 * 8, "icsk_ca_priv has 13 words");
_Static_assert(sizeof(struct decision) == 64, "a cache line");

struct {
	UINT(type, BPF_MAP_TYPE_RINGBUF);
	UINT(max_entries, 1 << 22);
} reports SEC(".maps");

struct {
	UINT(type, BPF_MAP_TYPE_ARRAY);
	UINT(map_flags, BPF_F_MMAPABLE);
	UINT(max_entries, SLOTS);
	TYPE(key, u32);
	TYPE(value, struct decision);
} decisions SEC(".maps");

struct {
	UINT(type, BPF_MAP_TYPE_ARRAY);
	UINT(max_entries, SLOTS);
	TYPE(key, u32);
	TYPE(value, struct peer);
} peers SEC(".maps");

/* The slots that no connection has. The program fills it before it attaches. */
struct {
	UINT(type, BPF_MAP_TYPE_QUEUE);
	UINT(max_entries, SLOTS);
	TYPE(value, u32);
} slots SEC(".maps");

/* Set by the program before the load. */
const volatile struct {
	/* Above the slow-start threshold, reports come once per round trip and at congestion. */
	u32 per_round;
	/* The name that `choose` gives to sockets. */
	char name[16];
} settings = {};

struct {
	/* The reports that found no room, the connections that found no slot, the turns to Reno for silence. */
	u64 full;
	u64 refused;
	u64 silences;
	/* The connections so far. */
	u32 generations;
} counts = {};

INLINE struct tcp_sock *tcp(struct sock *sk)
{
	return (struct tcp_sock *)sk;
}

INLINE struct own *own_of(struct sock *sk)
{
	return (struct own *)((struct inet_connection_sock *)sk)->icsk_ca_priv;
}

INLINE u32 in_flight(struct tcp_sock *tp)
{
	return tp->packets_out - tp->sacked_out - tp->lost_out + tp->retrans_out;
}

INLINE u32 events(struct own *own)
{
	return own->losses + own->timeouts + own->repeated_timeouts + own->marks + own->undone + own->idles +
	       own->restarts;
}

/* Sends a report; `rs` may be missing. */
INLINE void report(struct sock *sk, const struct rate_sample *rs, u32 flags)
{
	struct tcp_sock *tp = tcp(sk);
	struct own *own = own_of(sk);
	struct report *r;

	if (!own->slot)
		return;
	if (own->number == own->answered) {
		/* The first report that waits for an answer. */
		own->waits_ns = ktime();
		own->waits_round = own->rounds;
	}
	own->number += 1;
	own->told_round = own->rounds;
	own->told_events = events(own);
	r = ring_reserve(&reports, sizeof(*r), 0);
	if (!r) {
		__sync_fetch_and_add(&counts.full, 1);
		return;
	}
	r->now = ktime();
	r->pacing_rate = sk->sk_pacing_rate;
	r->slot = own->slot - 1;
	r->generation = own->generation;
	r->number = own->number;
	r->state = own->state;
	r->rounds = own->rounds;
	r->delivered = tp->delivered;
	r->delivered_ce = tp->delivered_ce;
	r->lost = tp->lost;
	r->sent = tp->data_segs_out;
	r->srtt_us = tp->srtt_us >> 3;
	r->least_rtt_us = own->least_rtt_us;
	r->in_flight = in_flight(tp);
	r->unacknowledged = tp->packets_out - tp->sacked_out;
	r->cwnd = tp->snd_cwnd;
	r->ssthresh = tp->snd_ssthresh;
	r->mss = tp->mss_cache;
	r->header = tp->tcp_header_len;
	r->losses = own->losses;
	r->timeouts = own->timeouts;
	r->repeated_timeouts = own->repeated_timeouts;
	r->marks = own->marks;
	r->undone = own->undone;
	r->idles = own->idles;
	r->restarts = own->restarts;
	r->rtt_us = -1;
	r->sample_delivered = 0;
	r->sample_prior = 0;
	r->sample_interval_us = 0;
	r->prior_in_flight = r->in_flight;
	if (rs) {
		long interval = rs->interval_us;

		flags |= ACKNOWLEDGED;

		r->rtt_us = rs->rtt_us;
		r->prior_in_flight = rs->prior_in_flight;
		if (rs->delivered > 0 && interval > 0) {
			flags |= SAMPLE;
			r->sample_delivered = rs->delivered;
			r->sample_prior = rs->prior_delivered;
			r->sample_interval_us = interval;
		}
		if (rs->is_app_limited)
			flags |= APP_LIMITED;
	}
	if (own->window_limited)
		flags |= WINDOW_LIMITED;
	if (own->alone)
		flags |= ALONE;
	r->flags = flags;
	own->least_rtt_us = -1;
	own->window_limited = 0;
	ring_submit(r, 0);
}

INLINE u32 bounded(struct tcp_sock *tp, u32 cwnd)
{
	if (cwnd < 1)
		cwnd = 1;
	if (cwnd > LARGEST_WINDOW)
		cwnd = LARGEST_WINDOW;
	if (cwnd > tp->snd_cwnd_clamp)
		cwnd = tp->snd_cwnd_clamp;
	return cwnd;
}

/* Sets the pace: the decided one, or the spread of a window that Linux has without one, for the sizes of
 * bursts [tcp_update_pacing_rate]. */
INLINE void pace(struct sock *sk)
{
	struct tcp_sock *tp = tcp(sk);
	struct own *own = own_of(sk);
	u64 rate = own->pace;

	if (own->alone || rate == UNLIMITED) {
		u64 srtt = tp->srtt_us;
		u64 cwnd = tp->snd_cwnd;
		u64 percent = cwnd < tp->snd_ssthresh / 2 ? 200 : 120;
		u64 flight = tp->packets_out;

		if (!srtt)
			return;
		if (flight > cwnd)
			cwnd = flight;
		rate = cwnd * tp->mss_cache * percent * 80000 / srtt;
	} else if (sk->sk_pacing_status == SK_PACING_NONE) {
		sk->sk_pacing_status = SK_PACING_NEEDED;
	}
	if (rate < (u64)tp->mss_cache * SLOWEST)
		rate = (u64)tp->mss_cache * SLOWEST;
	if (rate > sk->sk_max_pacing_rate)
		rate = sk->sk_max_pacing_rate;
	sk->sk_pacing_rate = rate;
}

INLINE s32 since(u32 a, u32 b)
{
	return (s32)(a - b);
}

/* Takes the latest decision, if it answers a report that no earlier one did. A decision that changes while it is
 * read is taken at the next occasion. */
INLINE void decide(struct sock *sk)
{
	struct tcp_sock *tp = tcp(sk);
	struct own *own = own_of(sk);
	const volatile struct decision *d;
	u32 slot = own->slot - 1;
	u32 version, answered, cwnd, ssthresh, limited;
	u64 rate, stamp;

	if (!own->slot)
		return;
	d = map_lookup(&decisions, &slot);
	if (!d)
		return;
	version = d->version;
	answered = d->answered;
	if (version & 1 || d->generation != own->generation || since(answered, own->answered) <= 0)
		return;
	cwnd = d->cwnd;
	ssthresh = d->ssthresh;
	limited = d->limited;
	rate = d->pace;
	stamp = d->stamp;
	if (d->version != version || since(answered, own->hold) < 0)
		return;
	if (own->alone) {
		/* A program that makes up for a pause decides for the past at first. */
		u64 late = (u64)(tp->srtt_us >> 3) * 1000 * SILENCE;

		if (late < SILENCE_NS)
			late = SILENCE_NS;
		if (ktime() - stamp > late)
			return;
		own->alone = 0;
	}
	own->answered = answered;
	own->waits_ns = ktime();
	own->waits_round = own->rounds;
	own->pace = rate;
	tp->snd_cwnd = bounded(tp, cwnd);
	tp->snd_ssthresh = ssthresh < 2 ? 2 : ssthresh;
	if (limited != own->limited) {
		u32 until = tp->delivered + in_flight(tp);

		own->limited = limited;
		tp->app_limited = until ? until : 1;
	}
	pace(sk);
}

/* The window after congestion without a program: half of it. */
INLINE u32 half(struct tcp_sock *tp)
{
	u32 cwnd = tp->snd_cwnd >> 1;

	return cwnd < 2 ? 2 : cwnd;
}

/* Goes on alone, if the program has been silent for long. */
INLINE void listen(struct sock *sk)
{
	struct tcp_sock *tp = tcp(sk);
	struct own *own = own_of(sk);

	if (own->alone || own->number == own->answered || own->rounds - own->waits_round < SILENCE)
		return;
	if (ktime() - own->waits_ns < SILENCE_NS)
		return;
	own->alone = 1;
	__sync_fetch_and_add(&counts.silences, 1);
	tp->snd_ssthresh = half(tp);
	if (tp->snd_cwnd > tp->snd_ssthresh)
		tp->snd_cwnd = tp->snd_ssthresh;
	tp->snd_cwnd_cnt = 0;
}

/* Grows the window as Reno does [RFC 5681 §3.1]. */
INLINE void grow(struct sock *sk, u32 acked)
{
	struct tcp_sock *tp = tcp(sk);
	u32 cwnd = tp->snd_cwnd;

	if (cwnd < tp->snd_ssthresh) {
		tp->snd_cwnd = bounded(tp, cwnd + acked);
		return;
	}
	acked += tp->snd_cwnd_cnt;
	if (acked >= cwnd) {
		acked -= cwnd;
		tp->snd_cwnd = bounded(tp, cwnd + 1);
		if (acked >= cwnd)
			acked = 0;
	}
	tp->snd_cwnd_cnt = acked;
}

SEC("struct_ops/init")
void accord_init(u64 *ctx)
{
	struct sock *sk = (struct sock *)ctx[0];
	struct tcp_sock *tp = tcp(sk);
	struct own *own = own_of(sk);
	struct peer *peer;
	u32 slot = 0;

	own->waits_ns = ktime();
	own->acked_ns = own->waits_ns;
	own->pace = UNLIMITED;
	own->slot = 0;
	own->generation = __sync_fetch_and_add(&counts.generations, 1) + 1;
	own->number = 0;
	own->answered = 0;
	own->hold = 0;
	own->rounds = 0;
	own->round_end = tp->delivered;
	own->waits_round = 0;
	own->told_round = 0;
	own->least_rtt_us = -1;
	own->limited = 0;
	own->losses = 0;
	own->timeouts = 0;
	own->repeated_timeouts = 0;
	own->marks = 0;
	own->undone = 0;
	own->idles = 0;
	own->restarts = 0;
	own->state = TCP_CA_Open;
	own->alone = 0;
	own->window_limited = 0;
	own->told_events = 0;
	if (map_pop(&slots, &slot)) {
		own->alone = 1;
		__sync_fetch_and_add(&counts.refused, 1);
		return;
	}
	own->slot = slot + 1;
	peer = map_lookup(&peers, &slot);
	if (peer) {
		struct sock_common *c = &sk->__sk_common;

		peer->family = c->skc_family;
		peer->port = c->skc_dport;
		peer->own_port = c->skc_num;
		peer->namespace = c->skc_net.net->ns.inum;
		if (c->skc_family == AF_INET) {
			peer->address[0] = c->skc_daddr;
			peer->own_address[0] = c->skc_rcv_saddr;
		} else {
			for (int i = 0; i < 4; i++) {
				peer->address[i] = c->skc_v6_daddr.in6_u.u6_addr32[i];
				peer->own_address[i] = c->skc_v6_rcv_saddr.in6_u.u6_addr32[i];
			}
		}
	}
	pace(sk);
	report(sk, 0, 0);
}

SEC("struct_ops/release")
void accord_release(u64 *ctx)
{
	struct sock *sk = (struct sock *)ctx[0];
	struct own *own = own_of(sk);
	u32 slot = own->slot - 1;

	if (!own->slot)
		return;
	report(sk, 0, CLOSED);
	own->slot = 0;
	map_push(&slots, &slot, 0);
}

SEC("struct_ops/ssthresh")
u32 accord_ssthresh(u64 *ctx)
{
	struct sock *sk = (struct sock *)ctx[0];
	struct tcp_sock *tp = tcp(sk);

	return own_of(sk)->alone ? half(tp) : tp->snd_ssthresh;
}

SEC("struct_ops/undo_cwnd")
u32 accord_undo_cwnd(u64 *ctx)
{
	struct sock *sk = (struct sock *)ctx[0];
	struct tcp_sock *tp = tcp(sk);
	struct own *own = own_of(sk);
	u32 cwnd = tp->snd_cwnd;

	own->undone += 1;
	return cwnd > tp->prior_cwnd ? cwnd : tp->prior_cwnd;
}

SEC("struct_ops/set_state")
void accord_set_state(u64 *ctx)
{
	struct sock *sk = (struct sock *)ctx[0];
	u8 state = ctx[1];
	struct tcp_sock *tp = tcp(sk);
	struct own *own = own_of(sk);
	u8 before = own->state;

	own->state = state;
	if (state == TCP_CA_Loss) {
		if (before == TCP_CA_Loss)
			own->repeated_timeouts += 1;
		else
			own->timeouts += 1;
		own->hold = own->number + 1;
	} else if (state == TCP_CA_Recovery && before < TCP_CA_CWR) {
		own->losses += 1;
	} else if (state == TCP_CA_CWR && before < TCP_CA_CWR) {
		/* A drop of the host's own queue comes here, too. */
		if (tp->ecn_flags & TCP_ECN_MODE_ANY)
			own->marks += 1;
		else
			own->losses += 1;
	} else {
		return;
	}
	if (own->alone && state != TCP_CA_Loss && tp->snd_cwnd > tp->snd_ssthresh)
		tp->snd_cwnd = tp->snd_ssthresh;
	report(sk, 0, 0);
}

SEC("struct_ops/cwnd_event")
void accord_cwnd_event(u64 *ctx)
{
	struct sock *sk = (struct sock *)ctx[0];
	int event = ctx[1];
	struct tcp_sock *tp = tcp(sk);
	struct own *own = own_of(sk);

	if (event != CA_EVENT_TX_START)
		return;
	if (tp->app_limited)
		own->restarts += 1;
	/* Idle for longer than the retransmission timer, counted from the last acknowledgement [RFC 5681 §4.1]. */
	if (ktime() - own->acked_ns > ((u64)(tp->srtt_us >> 3) + tp->rttvar_us) * 1000)
		own->idles += 1;
	decide(sk);
}

SEC("struct_ops/min_tso_segs")
u32 accord_min_tso_segs(u64 *ctx)
{
	struct sock *sk = (struct sock *)ctx[0];

	/* The stack asks before it sends: a decision that came after the last acknowledgement counts already. */
	decide(sk);
	return sk->sk_pacing_rate < 150000 ? 1 : 2;
}

SEC("struct_ops/cong_control")
void accord_cong_control(u64 *ctx)
{
	struct sock *sk = (struct sock *)ctx[0];
	const struct rate_sample *rs = (const struct rate_sample *)ctx[3];
	struct tcp_sock *tp = tcp(sk);
	struct own *own = own_of(sk);
	u32 acked = rs->acked_sacked;
	s32 rtt = rs->rtt_us;

	own->acked_ns = ktime();
	if (rs->delivered > 0 && since(rs->prior_delivered, own->round_end) >= 0) {
		own->rounds += 1;
		own->round_end = tp->delivered;
	}
	if (rtt > 0 && (own->least_rtt_us < 0 || rtt < own->least_rtt_us))
		own->least_rtt_us = rtt;
	/* As tcp_is_cwnd_limited(). */
	if (BIT(tp, is_cwnd_limited) || (tp->snd_cwnd < tp->snd_ssthresh && tp->snd_cwnd < 2 * tp->max_packets_out))
		own->window_limited = 1;
	decide(sk);
	listen(sk);
	if (own->alone) {
		if (own->state != TCP_CA_Recovery && own->state != TCP_CA_CWR && own->window_limited)
			grow(sk, acked);
	} else if (own->state == TCP_CA_Loss && since(own->answered, own->hold) < 0) {
		grow(sk, acked);
	}
	pace(sk);
	if (!settings.per_round || tp->snd_cwnd < tp->snd_ssthresh || own->rounds != own->told_round ||
	    events(own) != own->told_events)
		report(sk, rs, 0);
}

/* Gives the sockets of a control group this congestion control: as they connect, before the handshake, and as
 * they listen, for the connections that come. */
SEC("sockops")
int choose(u32 *ctx)
{
	char name[16];

	if (*ctx == BPF_SOCK_OPS_TCP_CONNECT_CB || *ctx == BPF_SOCK_OPS_TCP_LISTEN_CB) {
		for (int i = 0; i < 16; i++)
			name[i] = settings.name[i];
		set_option(ctx, IPPROTO_TCP, TCP_CONGESTION, name, sizeof(name));
	}
	return 1;
}

SEC(".struct_ops.link")
struct tcp_congestion_ops ops = {
	.name = "accord",
	.init = (void *)accord_init,
	.release = (void *)accord_release,
	.ssthresh = (void *)accord_ssthresh,
	.undo_cwnd = (void *)accord_undo_cwnd,
	.set_state = (void *)accord_set_state,
	.cwnd_event = (void *)accord_cwnd_event,
	.min_tso_segs = (void *)accord_min_tso_segs,
	.cong_control = (void *)accord_cong_control,
};
