// The least that an emulator does: two TUN devices, a rate, a delay and a droptail queue of 2000 packets each
// way, and nothing else. A floor for the CPU time of others.
//
//     bare MBPS MILLISECONDS SERVER COMMAND
//
// Both are lines of a shell; $ADDRESS is the address of the server.
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <linux/if.h>
#include <linux/if_tun.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define ROOM 32768
#define LIMIT 2000

typedef long long ns;
struct packet { ns due, served; int length; char bytes[1600]; };
static struct packet *wire[2];
static unsigned head[2], tail[2];

static ns now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec * 1000000000LL + t.tv_nsec;
}

static int tun(const char *setup, int *space) {
    struct ifreq request = { .ifr_flags = IFF_TUN | IFF_NO_PI, .ifr_name = "bare" };
    if (unshare(CLONE_NEWNET)) exit(3);
    int file = open("/dev/net/tun", O_RDWR | O_NONBLOCK);
    if (file < 0 || ioctl(file, TUNSETIFF, &request) || system(setup)) exit(3);
    *space = open("/proc/self/ns/net", O_RDONLY);
    return file;
}

static pid_t run(int space, const char *line) {
    pid_t child = fork();
    if (child) return child;
    setns(space, CLONE_NEWNET);
    execlp("sh", "sh", "-c", line, NULL);
    exit(127);
}

int main(int count, char **words) {
    if (count != 5) return 2;
    double rate = atof(words[1]) * 1e6;
    ns delay = atof(words[2]) * 1e6, free_at[2] = { 0, 0 };
    int space[2], file[2], status;
    unsigned served[2] = { 0, 0 };
    char rest[1600];
    file[0] = tun("ip link set lo up; ip link set dev bare txqueuelen 10000 up; ip address add 10.9.0.1/24 dev bare", &space[0]);
    file[1] = tun("ip link set lo up; ip link set dev bare txqueuelen 10000 up; ip address add 10.9.0.2/24 dev bare", &space[1]);
    for (int i = 0; i < 2; i++) wire[i] = malloc(sizeof(struct packet) * ROOM);
    setenv("ADDRESS", "10.9.0.2", 1);
    pid_t server = run(space[1], words[3]);
    usleep(500000);
    pid_t command = run(space[0], words[4]);
    prctl(PR_SET_TIMERSLACK, 1);
    struct sched_param first = { 1 };
    sched_setscheduler(0, SCHED_FIFO, &first);
    for (;;) {
        ns due = now() + 100000000;
        for (int i = 0; i < 2; i++)
            if (head[i] != tail[i] && wire[i][head[i] % ROOM].due < due) due = wire[i][head[i] % ROOM].due;
        ns left = due - now();
        if (left < 0) left = 0;
        struct timespec wait = { left / 1000000000, left % 1000000000 };
        struct pollfd polls[2] = { { file[0], POLLIN, 0 }, { file[1], POLLIN, 0 } };
        ppoll(polls, 2, &wait, NULL);
        ns at = now();
        if (left > 50000000 && waitpid(command, &status, WNOHANG) == command) break;
        for (int i = 0; i < 2; i++)
            for (; head[i] != tail[i] && wire[i][head[i] % ROOM].due <= at; head[i]++) {
                struct packet *p = &wire[i][head[i] % ROOM];
                if (write(file[1 - i], p->bytes, p->length) < 0 && errno != EAGAIN) return 1;
            }
        for (int i = 0; i < 2; i++)
            for (int n = 0; polls[i].revents && n < 64; n++) {
                int full = tail[i] - head[i] >= ROOM - 1;
                struct packet *p = &wire[i][tail[i] % ROOM];
                int length = read(file[i], full ? rest : p->bytes, 1600);
                if (length <= 0) break;
                ns enters = now();
                while (served[i] < tail[i] && wire[i][served[i] % ROOM].served <= enters) served[i]++;
                if (full || tail[i] - served[i] >= LIMIT) continue;
                if (free_at[i] < enters) free_at[i] = enters;
                free_at[i] += (ns)(length * 8e9 / rate);
                p->length = length, p->served = free_at[i], p->due = free_at[i] + delay;
                tail[i]++;
            }
    }
    kill(server, SIGTERM);
    return 0;
}
