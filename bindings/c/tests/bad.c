// A stack that breaks a rule from 1 s on: bad DEED. Prints the status and the message.

#include <accord_net.h>
#include <stdio.h>
#include <string.h>

static const char *DEED;
static AccordNet *NET;

// A sender has a datagram to send per 10 ms.
struct end {
    int is_sender;
    uint64_t now, due;
    int queued;
};
static struct end ENDS[2];
static int CLOSED;

static int is(const struct end *e, const char *deed) {
    return e->is_sender && e->due != ACCORD_UNKNOWN && e->now >= 1000000000u && strcmp(DEED, deed) == 0;
}

static void *bad_open(void *user, const AccordSetup *setup) {
    if (strcmp(DEED, "no end") == 0 && !setup->is_sender) return NULL;
    if (user != &NET || setup->packet != 1500 || setup->room != 1472 || strcmp(setup->controller, "newreno") != 0) {
        return NULL;
    }
    struct end *e = &ENDS[setup->is_sender];
    *e = (struct end){.is_sender = setup->is_sender, .due = ACCORD_UNKNOWN};
    return e;
}

static void bad_close(void *end) {
    CLOSED += end == &ENDS[0] || end == &ENDS[1];
}

static int bad_receive(void *end, const uint8_t *payload, size_t length, uint8_t ecn, uint64_t now) {
    struct end *e = end;
    e->now = now;
    return length > 0 && payload[0] == 7 && ecn == 0 ? -1 : 0;
}

static ptrdiff_t bad_poll(void *end, uint8_t *payload, size_t room, uint8_t *ecn, uint64_t now) {
    struct end *e = end;
    e->now = now;
    if (is(e, "flood")) e->queued = 1;
    if (e->queued == 0) return is(e, "negative") ? -7 : ACCORD_NOTHING;
    e->queued = 0;
    payload[0] = 7;
    if (is(e, "overrun")) memset(payload, 7, room + 1);
    if (is(e, "ecn")) *ecn = 255;
    if (is(e, "empty")) return 0;
    if (is(e, "large")) return (ptrdiff_t)room + 1;
    if (is(e, "huge")) return PTRDIFF_MAX;
    return 1000;
}

static uint64_t bad_next_wake(void *end) {
    struct end *e = end;
    if (is(e, "spin")) return e->now;
    if (is(e, "past")) return 500000000u;
    if (is(e, "far")) return ACCORD_UNKNOWN - 1;
    return e->due;
}

static void bad_on_wake(void *end, uint64_t now) {
    struct end *e = end;
    e->now = now;
    if (now < e->due) return;
    e->queued = 1;
    e->due = now + 10000000u;
}

static void bad_supply(void *end, uint64_t packets, int is_transfer, uint64_t now) {
    struct end *e = end;
    if (packets > 0 && !is_transfer && strcmp(DEED, "mute") != 0) e->due = now;
}

static void bad_view(void *end, AccordView *view) {
    if (is(end, "view")) memset(view, 0xfe, sizeof *view);
}

static const char *bad_broken(void *end) {
    if (is(end, "broken")) return "not UTF-8: \xff";
    if (accord_net_run(NULL) != ACCORD_STATUS_ARGUMENT) return "a net from nothing";
    // Calls of the net that runs are of no use, and no crash.
    double value = 7;
    accord_net_free(NET);
    int is_refused = accord_net_run(NET) == ACCORD_STATUS_ARGUMENT && accord_net_seed(NET, 7) == ACCORD_STATUS_ARGUMENT
        && accord_net_set(NET, NULL, NULL) == ACCORD_STATUS_ARGUMENT
        && accord_net_mean(NET, 0, "goodput", "mine", &value) == ACCORD_STATUS_ARGUMENT && value == 7
        && accord_net_runs(NET) == 0 && accord_net_digest(NET, 0) == NULL && accord_net_capture(NET) == NULL
        && strcmp(accord_net_message(NET), "the net is in use: it runs") == 0;
    return is_refused ? NULL : "a net that runs was called";
}

static const char *SCENARIO =
    "duration = \"3 s\"\n"
    "[topology.dumbbell]\n"
    "rate = \"5 Mbps\"\n"
    "delay = \"5 ms\"\n"
    "queue = { discipline = \"droptail\", limit = \"50 pkt\" }\n"
    "[flow]\n"
    "mine = { from = \"left\", to = \"right\", controller = \"newreno\", packet = \"1500 B\" }\n"
    "ours = { from = \"left\", to = \"right\", controller = \"newreno\", packet = \"1500 B\" }\n"
    "[[expect]]\n"
    "name = \"the other flow goes on\"\n"
    "metric = \"throughput\"\n"
    "of = \"ours\"\n"
    "at_least = \"1 Mbps\"\n";

static void say(const char *what, AccordStatus status) {
    printf("%s: %d %s\n", what, status, status == ACCORD_STATUS_OK ? "" : accord_net_message(NET));
}

// A net after a setting that was refused, and others that were not.
static void refused(const char *what, AccordStack *stack) {
    printf("%s", what);
    say("", accord_net_run(NET));
    accord_net_free(NET);
    NET = accord_net_new();
    accord_net_network(NET, SCENARIO);
    accord_net_carry(NET, "mine", stack);
}

// Calls with arguments that are wrong.
static int arguments(AccordStack *stack) {
    double value;
    say("no scenario", accord_net_run(NET));
    say("null scenario", accord_net_scenario(NET, NULL));
    say("not UTF-8", accord_net_network(NET, "\xff"));
    accord_net_network(NET, SCENARIO);
    refused("run of null scenario", stack);
    say("null path", accord_net_set(NET, NULL, "1"));
    say("null folder", accord_net_folder(NET, NULL));
    refused("run of null path", stack);
    say("null folder", accord_net_folder(NET, NULL));
    refused("run of null folder", stack);
    say("null stack", accord_net_carry(NET, "mine", NULL));
    refused("run of null stack", stack);
    stack->size = 8;
    say("old stack", accord_net_carry(NET, "mine", stack));
    stack->size = sizeof *stack;
    refused("run of old stack", stack);
    stack->poll = NULL;
    say("no poll", accord_net_carry(NET, "mine", stack));
    stack->poll = bad_poll;
    refused("run of no poll", stack);
    accord_net_network(NET, "duration = 3");
    say("bad scenario", accord_net_run(NET));
    say("no run", accord_net_mean(NET, 0, "goodput", "mine", &value));
    accord_net_network(NET, SCENARIO);
    accord_net_carry(NET, "theirs", stack);
    say("no flow", accord_net_run(NET));
    printf("%zu %d %d\n", accord_net_runs(NET), accord_net_digest(NET, 0) == NULL, accord_net_capture(NET) == NULL);
    accord_net_free(NET);
    NET = accord_net_new();
    accord_net_network(NET, SCENARIO);
    accord_net_carry(NET, "mine", stack);
    say("good", accord_net_run(NET));
    say("again", accord_net_run(NET));
    say("no metric", accord_net_mean(NET, 0, "goodness", "mine", &value));
    say("null value", accord_net_mean(NET, 0, "goodput", "mine", NULL));
    printf("null net: %s\n", accord_net_message(NULL));
    accord_log_write(NULL, "", 1);
    accord_net_free(NULL);
    accord_net_free(NET);
    return 0;
}

int main(int count, char **words) {
    AccordStack stack = {
        .size = sizeof stack, .user = &NET, .open = bad_open, .close = bad_close, .receive = bad_receive,
        .poll = bad_poll, .next_wake = bad_next_wake, .on_wake = bad_on_wake, .supply = bad_supply,
        .view = bad_view, .broken = bad_broken,
    };
    DEED = count > 1 ? words[1] : "";
    NET = accord_net_new();
    if (strcmp(DEED, "arguments") == 0) return arguments(&stack);
    accord_net_network(NET, SCENARIO);
    accord_net_carry(NET, "mine", &stack);
    AccordStatus status = accord_net_run(NET);
    say("status", status);
    double other = 0;
    accord_net_mean(NET, 0, "throughput", "ours", &other);
    printf("the other flow: %d\n", other > 1e6);
    accord_net_free(NET);
    printf("closed: %d\n", CLOSED);
    return 0;
}
