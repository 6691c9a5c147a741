// Connections of picoquic in a simulated network, on the clock of the run: `make PICOQUIC=... PICOTLS=... test`.

#include <accord_net.h>
#include <arpa/inet.h>
#include <picoquic.h>
#include <tls_api.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define LARGEST 65536

// An end of a connection: a context of picoquic with at most one connection.
struct end {
    int is_sender;
    picoquic_quic_t *quic;
    picoquic_cnx_t *cnx;
    uint64_t clock;            // The time of the run in microseconds, which picoquic reads.
    uint64_t unsent;           // Bytes, or UINT64_MAX.
    uint64_t arrived;          // Bytes of the stream.
    int is_transfer;
    int is_stopped;
    char broken[64];
    uint8_t buffer[LARGEST];
};

// The stream of the client that carries the data.
#define STREAM 2
// picoquic only compares the addresses.
static struct sockaddr_in address(int is_sender) {
    struct sockaddr_in at = {.sin_family = AF_INET, .sin_port = htons(443)};
    at.sin_addr.s_addr = htonl(is_sender ? 0x0a000001 : 0x0a000002);
    return at;
}

static int on_event(picoquic_cnx_t *cnx, uint64_t stream, uint8_t *bytes, size_t length,
                    picoquic_call_back_event_t event, void *context, void *stream_context) {
    struct end *e = context;
    (void)stream;
    (void)stream_context;
    switch (event) {
    case picoquic_callback_stream_data:
    case picoquic_callback_stream_fin:
        e->arrived += length;
        break;
    case picoquic_callback_prepare_to_send: {
        // For this event `bytes` is the place to write to.
        size_t taken = length < e->unsent ? length : (size_t)e->unsent;
        int is_last = e->unsent != UINT64_MAX && taken == e->unsent;
        uint8_t *room = picoquic_provide_stream_data_buffer(bytes, taken, is_last && e->is_transfer, !is_last);
        if (room == NULL) return -1;
        memset(room, 0, taken);
        if (e->unsent != UINT64_MAX) e->unsent -= taken;
        break;
    }
    case picoquic_callback_stateless_reset:
    case picoquic_callback_close:
        if (!e->is_stopped)
            snprintf(e->broken, sizeof e->broken, "error %#llx",
                     (unsigned long long)picoquic_get_remote_error(cnx));
        break;
    default:
        break;
    }
    return 0;
}

static void *end_open(void *user, const AccordSetup *setup) {
    (void)user;
    struct end *e = calloc(1, sizeof *e);
    if (e == NULL) return NULL;
    e->is_sender = setup->is_sender;
    int is_server = !e->is_sender;
    e->quic = picoquic_create(1, is_server ? getenv("CERTIFICATE") : NULL, is_server ? getenv("KEY") : NULL, NULL,
                              "accord", on_event, e, NULL, NULL, NULL, 0, &e->clock, NULL, NULL, 0);
    if (e->quic == NULL) {
        free(e);
        return NULL;
    }
    picoquic_set_null_verifier(e->quic);
    picoquic_set_mtu_max(e->quic, (uint32_t)setup->room);
    // BBR has the name of its newest version.
    const char *name = strcmp(setup->controller, "bbr3") == 0 ? "bbr" : setup->controller;
    picoquic_set_default_congestion_algorithm_by_name(e->quic, name);
    // Keys and identifiers are random all the same.
    picoquic_public_random_seed_64(setup->seed, 1);
    const uint64_t window = 64u << 20;
    picoquic_set_default_tp_value(e->quic, picoquic_tp_initial_max_data, window);
    picoquic_set_default_tp_value(e->quic, picoquic_tp_initial_max_stream_data_uni, window);
    return e;
}

static void end_close(void *end) {
    struct end *e = end;
    picoquic_free(e->quic);
    free(e);
}

static void end_supply(void *end, uint64_t packets, int is_transfer, uint64_t now) {
    struct end *e = end;
    e->clock = now / 1000;
    e->is_transfer = is_transfer;
    uint64_t bytes = packets == UINT64_MAX ? UINT64_MAX : packets * 1400;
    e->unsent = bytes == UINT64_MAX ? bytes : e->unsent + bytes;
    if (e->cnx == NULL) {
        struct sockaddr_in to = address(0);
        // Without an identifier it draws one.
        picoquic_connection_id_t none = {{0}, 0};
        e->cnx = picoquic_create_cnx(e->quic, none, none, (struct sockaddr *)&to, e->clock, 0, "accord", "accord", 1);
        if (e->cnx == NULL || picoquic_start_client_cnx(e->cnx) != 0) {
            snprintf(e->broken, sizeof e->broken, "no connection");
            return;
        }
    }
    picoquic_mark_active_stream(e->cnx, STREAM, 1, NULL);
}

static int end_receive(void *end, const uint8_t *payload, size_t length, uint8_t ecn, uint64_t now) {
    struct end *e = end;
    e->clock = now / 1000;
    uint64_t before = e->arrived;
    struct sockaddr_in here = address(e->is_sender), there = address(!e->is_sender);
    // It decrypts in place.
    memcpy(e->buffer, payload, length);
    picoquic_cnx_t *cnx = NULL;
    picoquic_incoming_packet_ex(e->quic, e->buffer, length, (struct sockaddr *)&there, (struct sockaddr *)&here, 0, ecn,
                                &cnx, e->clock);
    if (cnx != NULL) e->cnx = cnx;
    // The handshake is never a copy. Data out of order is reported when it is in order.
    return e->arrived > before || e->arrived == 0;
}

static ptrdiff_t end_poll(void *end, uint8_t *payload, size_t room, uint8_t *ecn, uint64_t now) {
    struct end *e = end;
    (void)ecn;
    e->clock = now / 1000;
    size_t length = 0;
    struct sockaddr_storage to, from;
    int interface = 0;
    picoquic_connection_id_t log;
    picoquic_cnx_t *last = NULL;
    picoquic_prepare_next_packet_ex(e->quic, e->clock, payload, room, &length, &to, &from, &interface, &log, &last, NULL);
    return length == 0 ? ACCORD_NOTHING : (ptrdiff_t)length;
}

static uint64_t end_next_wake(void *end) {
    struct end *e = end;
    uint64_t at = picoquic_get_next_wake_time(e->quic, e->clock);
    // It has just been asked at this microsecond.
    if (at <= e->clock) at = e->clock + 1;
    return at >= UINT64_MAX / 1000 ? ACCORD_UNKNOWN : at * 1000;
}

static void end_on_wake(void *end, uint64_t now) {
    struct end *e = end;
    e->clock = now / 1000;
}

static void end_stop(void *end, uint64_t now) {
    struct end *e = end;
    e->clock = now / 1000;
    e->is_stopped = 1;
    if (e->cnx != NULL) picoquic_close(e->cnx, 0);
}

static void end_view(void *end, AccordView *view) {
    struct end *e = end;
    if (e->cnx == NULL) return;
    picoquic_path_quality_t path;
    memset(&path, 0, sizeof path);
    picoquic_get_default_path_quality(e->cnx, &path);
    view->cwnd = path.cwin;
    view->pacing = path.pacing_rate * 8;
    view->rtt = path.rtt * 1000;
    if (path.rtt_min > 0) view->min_rtt = path.rtt_min * 1000;
    view->retransmissions = path.lost;
}

static const char *end_broken(void *end) {
    struct end *e = end;
    return e->broken[0] != 0 ? e->broken : NULL;
}

int main(int argc, char **argv) {
    if (argc < 2) return 2;
    AccordStack stack = {
        .size = sizeof stack, .open = end_open, .close = end_close, .receive = end_receive,
        .poll = end_poll, .next_wake = end_next_wake, .on_wake = end_on_wake, .supply = end_supply,
        .stop = end_stop, .view = end_view, .broken = end_broken,
    };
    picoquic_register_all_congestion_control_algorithms();
    AccordNet *net = accord_net_new();
    accord_net_scenario(net, argv[1]);
    for (int i = 2; i + 1 < argc; i += 2) accord_net_set(net, argv[i], argv[i + 1]);
    accord_net_carry(net, "mine", &stack);
    clock_t begun = clock();
    AccordStatus status = accord_net_run(net);
    double spent = (double)(clock() - begun) / CLOCKS_PER_SEC, rate = 0, again = 0;
    accord_net_mean(net, 0, "goodput", "mine", &rate);
    accord_net_mean(net, 0, "retransmissions", "mine", &again);
    printf("%.2f Mbps, %.0f sent again, %.2f s of CPU, %s\n", rate / 1e6, again, spent, accord_net_digest(net, 0));
    if (status != ACCORD_STATUS_OK) fprintf(stderr, "%s\n", accord_net_message(net));
    accord_net_free(net);
    return status;
}
