#include "protocol.h"

#include <string.h>

// The silence after which all datagrams count as lost, in nanoseconds.
#define TIMEOUT 500000000u
// The later datagrams whose acknowledgement makes one count as lost.
#define REORDERED 3
// The bytes of a number.
#define NUMBER 8

static void write_number(uint8_t *to, uint64_t number) {
    for (int i = 0; i < NUMBER; i++) to[i] = (uint8_t)(number >> (56 - 8 * i));
}

static uint64_t read_number(const uint8_t *from) {
    uint64_t number = 0;
    for (int i = 0; i < NUMBER; i++) number = number << 8 | from[i];
    return number;
}

void sender_init(struct sender *s, size_t size) {
    memset(s, 0, sizeof *s);
    s->size = size;
    s->window = 10;
    s->threshold = MOST_AWAY;
    s->rtt = UINT64_MAX;
}

void sender_supply(struct sender *s, uint64_t packets, uint64_t now) {
    s->unsent = packets > UINT64_MAX - s->unsent ? UINT64_MAX : s->unsent + packets;
    s->heard = now;
}

static void lose(struct sender *s, size_t place) {
    s->away[place].is_away = 0;
    s->on_the_way--;
    s->again[(s->first + s->count++) % MOST_AWAY] = s->away[place].number;
    s->lost++;
}

int sender_receive(struct sender *s, const uint8_t *payload, size_t length, uint64_t now) {
    if (length != NUMBER) return 0;
    uint64_t number = read_number(payload);
    size_t place = number % MOST_AWAY;
    s->heard = now;
    if (!s->away[place].is_away || s->away[place].number != number) return 0;
    uint64_t sent = s->away[place].sent;
    s->away[place].is_away = 0;
    s->on_the_way--;
    s->rtt = now - sent;
    s->window += s->window < s->threshold ? 1 : 1 / s->window;
    if (s->window > MOST_AWAY / 2) s->window = MOST_AWAY / 2;
    for (size_t i = 0; i < MOST_AWAY; i++) {
        // One that was sent again is younger than its number.
        if (!s->away[i].is_away || s->away[i].number + REORDERED >= number || s->away[i].sent >= sent) continue;
        lose(s, i);
        if (s->away[i].number >= s->recovered) {
            s->window = s->window / 2 < 2 ? 2 : s->window / 2;
            s->threshold = s->window;
            s->recovered = s->next;
        }
    }
    return 1;
}

ptrdiff_t sender_poll(struct sender *s, uint8_t *payload, uint64_t now) {
    if ((double)s->on_the_way >= s->window) return -1;
    uint64_t number;
    if (s->count > 0) {
        number = s->again[s->first];
        s->first = (s->first + 1) % MOST_AWAY;
        s->count--;
    } else {
        // A number whose place is taken waits.
        if (s->unsent == 0 || s->away[s->next % MOST_AWAY].is_away) return -1;
        if (s->unsent < UINT64_MAX) s->unsent--;
        number = s->next++;
    }
    size_t place = number % MOST_AWAY;
    s->away[place].is_away = 1;
    s->away[place].number = number;
    s->away[place].sent = now;
    s->on_the_way++;
    memset(payload, 0, s->size);
    write_number(payload, number);
    return (ptrdiff_t)s->size;
}

uint64_t sender_next_wake(const struct sender *s) {
    return s->on_the_way > 0 ? s->heard + TIMEOUT : UINT64_MAX;
}

void sender_on_wake(struct sender *s, uint64_t now) {
    if (now < sender_next_wake(s)) return;
    for (size_t i = 0; i < MOST_AWAY; i++) {
        if (s->away[i].is_away) lose(s, i);
    }
    s->threshold = s->window / 2 < 2 ? 2 : s->window / 2;
    s->window = 2;
    s->recovered = s->next;
    s->heard = now;
}

int sender_is_done(const struct sender *s) {
    return s->unsent == 0 && s->count == 0 && s->on_the_way == 0;
}

int receiver_receive(struct receiver *r, const uint8_t *payload, size_t length) {
    if (length < NUMBER) return 0;
    uint64_t number = read_number(payload);
    if (r->count < MOST_AWAY) r->answers[(r->first + r->count++) % MOST_AWAY] = number;
    if (number < r->expected || number >= r->expected + MOST_AWAY) return 0;
    uint8_t *arrived = &r->arrived[number % MOST_AWAY];
    if (*arrived) return 0;
    *arrived = 1;
    for (; r->arrived[r->expected % MOST_AWAY]; r->expected++) r->arrived[r->expected % MOST_AWAY] = 0;
    return 1;
}

ptrdiff_t receiver_poll(struct receiver *r, uint8_t *payload) {
    if (r->count == 0) return -1;
    write_number(payload, r->answers[r->first]);
    r->first = (r->first + 1) % MOST_AWAY;
    r->count--;
    return NUMBER;
}
