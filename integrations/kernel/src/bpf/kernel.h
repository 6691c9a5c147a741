/* SPDX-License-Identifier: MIT OR GPL-2.0 */
/* The parts of the kernel's types that tcp.bpf.c uses. libbpf finds their places in the kernel that runs, by its
 * BTF (CO-RE), so that one object serves all of them. Names and types are the kernel's. */
#ifndef ACCORD_KERNEL_H
#define ACCORD_KERNEL_H

typedef unsigned char u8;
typedef unsigned short u16;
typedef unsigned int u32;
typedef int s32;
typedef unsigned long long u64;

#define SEC(name) __attribute__((section(name), used))
#define INLINE static inline __attribute__((always_inline))

#pragma clang attribute push(__attribute__((preserve_access_index)), apply_to = record)

struct in6_addr {
	union {
		u32 u6_addr32[4];
	} in6_u;
};

struct ns_common {
	u32 inum;
};

struct net {
	struct ns_common ns;
};

typedef struct {
	struct net *net;
} possible_net_t;

struct sock_common {
	u32 skc_daddr;
	u32 skc_rcv_saddr;
	u16 skc_dport;
	u16 skc_num;
	u16 skc_family;
	possible_net_t skc_net;
	struct in6_addr skc_v6_daddr;
	struct in6_addr skc_v6_rcv_saddr;
};

struct sock {
	struct sock_common __sk_common;
	u32 sk_pacing_status;
	unsigned long sk_pacing_rate;
	unsigned long sk_max_pacing_rate;
};

struct inet_connection_sock {
	u64 icsk_ca_priv[13];
};

struct tcp_sock {
	u32 mss_cache;
	u32 snd_cwnd;
	u32 lost_out;
	u32 sacked_out;
	u16 tcp_header_len;
	u8 is_cwnd_limited : 1;
	u32 retrans_out;
	u32 lost;
	u32 snd_ssthresh;
	u32 data_segs_out;
	u8 ecn_flags;
	u32 srtt_us;
	u32 rttvar_us;
	u32 packets_out;
	u32 delivered;
	u32 delivered_ce;
	u32 app_limited;
	u32 max_packets_out;
	u32 snd_cwnd_cnt;
	u32 snd_cwnd_clamp;
	u32 prior_cwnd;
};

struct rate_sample {
	u32 prior_delivered;
	s32 delivered;
	long interval_us;
	long rtt_us;
	int losses;
	u32 acked_sacked;
	u32 prior_in_flight;
	_Bool is_app_limited;
};

#pragma clang attribute pop

/* libbpf matches members by name: the order is free, and the first two are set by the loader. */
struct tcp_congestion_ops {
	char name[16];
	u32 flags;
	u32 (*ssthresh)(struct sock *);
	void (*set_state)(struct sock *, u8);
	void (*cwnd_event)(struct sock *, int);
	u32 (*min_tso_segs)(struct sock *);
	void (*cong_control)(struct sock *, u32, int, const struct rate_sample *);
	u32 (*undo_cwnd)(struct sock *);
	void (*init)(struct sock *);
	void (*release)(struct sock *);
};

enum { AF_INET = 2 };
enum { TCP_CA_Open, TCP_CA_Disorder, TCP_CA_CWR, TCP_CA_Recovery, TCP_CA_Loss };
enum { CA_EVENT_TX_START };
/* ECN of RFC 3168 or accurate ECN. */
enum { TCP_ECN_MODE_ANY = 1 | 16 };
enum { BPF_SOCK_OPS_TCP_CONNECT_CB = 3, BPF_SOCK_OPS_TCP_LISTEN_CB = 11 };
enum { IPPROTO_TCP = 6, TCP_CONGESTION = 13 };
enum { SK_PACING_NONE, SK_PACING_NEEDED };

/* Reads a bit field of one bit in a type with preserve_access_index. */
enum { BPF_FIELD_BYTE_OFFSET, BPF_FIELD_BYTE_SIZE, BPF_FIELD_EXISTS, BPF_FIELD_SIGNED, BPF_FIELD_LSHIFT_U64, BPF_FIELD_RSHIFT_U64 };
#define BIT(s, field)                                                                                   \
	({                                                                                              \
		const void *p = (const void *)(s) +                                                     \
				__builtin_preserve_field_info((s)->field, BPF_FIELD_BYTE_OFFSET);       \
		u64 value = 0;                                                                          \
		asm volatile("" : "=r"(p) : "0"(p));                                                    \
		switch (__builtin_preserve_field_info((s)->field, BPF_FIELD_BYTE_SIZE)) {               \
		case 1:                                                                                 \
			value = *(const u8 *)p;                                                         \
			break;                                                                          \
		case 2:                                                                                 \
			value = *(const u16 *)p;                                                        \
			break;                                                                          \
		case 4:                                                                                 \
			value = *(const u32 *)p;                                                        \
			break;                                                                          \
		case 8:                                                                                 \
			value = *(const u64 *)p;                                                        \
			break;                                                                          \
		}                                                                                       \
		value <<= __builtin_preserve_field_info((s)->field, BPF_FIELD_LSHIFT_U64);              \
		value >>= __builtin_preserve_field_info((s)->field, BPF_FIELD_RSHIFT_U64);              \
		value;                                                                                  \
	})

/* Maps, as libbpf reads them from BTF. */
#define UINT(name, value) int(*name)[value]
#define TYPE(name, value) typeof(value) *name
enum { BPF_MAP_TYPE_ARRAY = 2, BPF_MAP_TYPE_QUEUE = 22, BPF_MAP_TYPE_RINGBUF = 27 };
enum { BPF_F_MMAPABLE = 1 << 10 };

/* Helpers [bpf-helpers(7)]. */
static void *(*map_lookup)(void *map, const void *key) = (void *)1;
static u64 (*ktime)(void) = (void *)5;
static long (*map_push)(void *map, const void *value, u64 flags) = (void *)87;
static long (*map_pop)(void *map, void *value) = (void *)88;
static void *(*ring_reserve)(void *ring, u64 size, u64 flags) = (void *)131;
static void (*ring_submit)(void *data, u64 flags) = (void *)132;
static long (*set_option)(void *ctx, int level, int name, void *value, int length) = (void *)49;

#endif
