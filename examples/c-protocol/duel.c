// A test of the protocol in a simulated network, alongside CUBIC. `make test` runs it.

#include "protocol.h"

#include <accord_net.h>
#include <stdio.h>
#include <stdlib.h>

// An end is one of the two.
struct end {
    int is_sender;
    AccordLog *log;
    union {
        struct sender sender;
        struct receiver receiver;
    };
};

static void *end_open(void *user, const AccordSetup *setup) {
    (void)user;
    struct end *e = calloc(1, sizeof *e);
    if (e == NULL || setup->room < 8) {
        free(e);
        return NULL;
    }
    e->is_sender = setup->is_sender;
    e->log = setup->log;
    if (e->is_sender) sender_init(&e->sender, setup->room);
    return e;
}

static void end_close(void *end) {
    free(end);
}

static int end_receive(void *end, const uint8_t *payload, size_t length, uint8_t ecn, uint64_t now) {
    (void)ecn;
    struct end *e = end;
    if (!e->is_sender) return receiver_receive(&e->receiver, payload, length);
    uint64_t lost = e->sender.lost;
    int is_new = sender_receive(&e->sender, payload, length, now);
    if (e->log != NULL && e->sender.lost > lost) {
        char line[80];
        int written = snprintf(line, sizeof line, "%.6f s: a loss, window %.0f\n", now / 1e9, e->sender.window);
        // snprintf returns the length without the cut, or a negative number.
        size_t length = written < 0 ? 0 : (size_t)written;
        accord_log_write(e->log, line, length < sizeof line ? length : sizeof line - 1);
    }
    return is_new;
}

static ptrdiff_t end_poll(void *end, uint8_t *payload, size_t room, uint8_t *ecn, uint64_t now) {
    (void)room;
    (void)ecn;
    struct end *e = end;
    ptrdiff_t length = e->is_sender ? sender_poll(&e->sender, payload, now) : receiver_poll(&e->receiver, payload);
    return length < 0 ? ACCORD_NOTHING : length;
}

static uint64_t end_next_wake(void *end) {
    struct end *e = end;
    return e->is_sender ? sender_next_wake(&e->sender) : ACCORD_UNKNOWN;
}

static void end_on_wake(void *end, uint64_t now) {
    struct end *e = end;
    if (e->is_sender) sender_on_wake(&e->sender, now);
}

static void end_supply(void *end, uint64_t packets, int is_transfer, uint64_t now) {
    (void)is_transfer;
    struct end *e = end;
    sender_supply(&e->sender, packets, now);
}

static int end_is_done(void *end) {
    struct end *e = end;
    return e->is_sender && sender_is_done(&e->sender);
}

static void end_view(void *end, AccordView *view) {
    struct end *e = end;
    if (!e->is_sender) return;
    view->cwnd = (uint64_t)(e->sender.window * (double)(e->sender.size + 28));
    view->rtt = e->sender.rtt;
    view->retransmissions = e->sender.lost;
}

int main(int count, char **words) {
    if (count < 2) {
        fprintf(stderr, "duel SCENARIO [PATH VALUE]...\n");
        return 2;
    }
    AccordStack stack = {
        .size = sizeof stack,
        .open = end_open,
        .close = end_close,
        .receive = end_receive,
        .poll = end_poll,
        .next_wake = end_next_wake,
        .on_wake = end_on_wake,
        .supply = end_supply,
        .is_done = end_is_done,
        .view = end_view,
    };
    AccordNet *net = accord_net_new();
    // A setting that is refused fails the run.
    accord_net_scenario(net, words[1]);
    for (int i = 2; i + 1 < count; i += 2) accord_net_set(net, words[i], words[i + 1]);
    accord_net_carry(net, "mine", &stack);
    AccordStatus status = accord_net_run(net);
    if (status != ACCORD_STATUS_OK) fprintf(stderr, "%s\n", accord_net_message(net));
    double goodput;
    if (accord_net_mean(net, 0, "goodput", "mine", &goodput) == ACCORD_STATUS_OK) {
        printf("goodput: %.1f Mbps\n", goodput / 1e6);
        printf("digest: %s\n", accord_net_digest(net, 0));
    }
    accord_net_free(net);
    return status == ACCORD_STATUS_OK ? 0 : 1;
}
