// A small reliable protocol over UDP: a window of datagrams with numbers, and an acknowledgement for each.
// The window grows by a datagram per round trip, and shrinks by a half at a loss. It has no sockets and
// no clock: its caller passes datagrams and times in nanoseconds.

#ifndef PROTOCOL_H
#define PROTOCOL_H

#include <stddef.h>
#include <stdint.h>

// The most datagrams on the way.
#define MOST_AWAY 4096

struct sender {
    size_t size;       // the bytes of a datagram
    double window;     // in datagrams
    double threshold;  // the window below which it grows with each acknowledgement
    uint64_t unsent;   // UINT64_MAX is data without end
    uint64_t next;     // the number of the next new datagram
    uint64_t recovered;  // the first datagram after the last loss that halved the window
    uint64_t heard;      // the time of the last acknowledgement
    uint64_t rtt;        // of the last datagram, or UINT64_MAX
    uint64_t lost;
    uint64_t again[MOST_AWAY];  // a ring of the datagrams to be sent again
    size_t first, count;
    struct {
        int is_away;
        uint64_t number, sent;
    } away[MOST_AWAY];  // by number
    size_t on_the_way;
};

struct receiver {
    uint64_t expected;            // all datagrams before it have arrived
    uint8_t arrived[MOST_AWAY];   // those from it on, by number
    uint64_t answers[MOST_AWAY];  // a ring of numbers to acknowledge
    size_t first, count;
};

void sender_init(struct sender *s, size_t size);
void sender_supply(struct sender *s, uint64_t packets, uint64_t now);
int sender_receive(struct sender *s, const uint8_t *payload, size_t length, uint64_t now);
// Returns the length of the datagram, or -1 if there is none to send now.
ptrdiff_t sender_poll(struct sender *s, uint8_t *payload, uint64_t now);
uint64_t sender_next_wake(const struct sender *s);
void sender_on_wake(struct sender *s, uint64_t now);
int sender_is_done(const struct sender *s);

int receiver_receive(struct receiver *r, const uint8_t *payload, size_t length);
ptrdiff_t receiver_poll(struct receiver *r, uint8_t *payload);

#endif
