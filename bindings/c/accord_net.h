// Made by cbindgen; the test has the command. 9f9f0fca9f7e4145 9b8ded03c2d54fcc
#ifndef ACCORD_NET_H
#define ACCORD_NET_H

#include <stddef.h>
#include <stdint.h>

// Tests of network stacks in the simulated networks of Accord. The page "Your stack in a simulated
// network" of its book explains them with an example.
//
// Rules for pointers: a net is used by one thread at a time, and not after accord_net_free. Text is
// UTF-8 with a zero at its end, and is copied. Text that a function returns is valid until the next call
// with the same net. Functions of a stack are called in accord_net_run, on its thread, and return as
// usual: without longjmp and without C++ exceptions. They do not call the net that runs: such a call is
// refused, with ACCORD_STATUS_ARGUMENT, a null pointer or 0. A null pointer for anything but `user` is an
// error and not a crash.

// The result of `poll` if there is nothing to send now.
#define ACCORD_NOTHING -1

// A value of a view that the stack does not know. As a time it is never.
#define ACCORD_UNKNOWN UINT64_MAX

// The outcome of a call.
typedef enum AccordStatus {
  // Success. Of a run: all that the scenario expects is met.
  ACCORD_STATUS_OK = 0,
  // An expectation is not met, or a stack broke a rule.
  ACCORD_STATUS_FAILED = 1,
  // The scenario is wrong, or there is none.
  ACCORD_STATUS_SCENARIO = 2,
  // The scenario has no flow of this name, or a stack cannot carry it.
  ACCORD_STATUS_FLOW = 3,
  // The scenario expects nothing of packets.
  ACCORD_STATUS_NO_EXPECTATION = 4,
  // An argument is a null pointer, text that is not UTF-8, or out of its range.
  ACCORD_STATUS_ARGUMENT = 5,
  // A fault of Accord.
  ACCORD_STATUS_INTERNAL = 6,
} AccordStatus;

// The log of an end, such as a qlog.
typedef struct AccordLog AccordLog;

// A network with its flows, some of which are to be carried by stacks, and the results of its last run.
typedef struct AccordNet AccordNet;

// The settings of an end.
typedef struct AccordSetup {
  // 1 for the end that sends data, 0 for the one that receives it.
  int is_sender;
  // The size of a full IP packet in bytes.
  size_t packet;
  // The largest datagram in bytes: a full packet without the headers of IP and UDP.
  size_t room;
  // The seed of random numbers. Both ends of a connection have the same.
  uint64_t seed;
  // The name of the flow's controller in the scenario. Valid during the call.
  const char *controller;
  // The log of the end, for accord_log_write, or a null pointer if none is kept. Valid until `close`.
  struct AccordLog *log;
} AccordSetup;

// The state of a sending end. All values are unknown (ACCORD_UNKNOWN) when `view` is called, but
// `retransmissions`, which is 0.
typedef struct AccordView {
  // The congestion window in bytes.
  uint64_t cwnd;
  // The slow-start threshold in bytes.
  uint64_t ssthresh;
  // The rate of pacing in bit/s.
  uint64_t pacing;
  // The smoothed round-trip time in nanoseconds.
  uint64_t rtt;
  // The smallest round-trip time in nanoseconds.
  uint64_t min_rtt;
  // The packets sent again so far.
  uint64_t retransmissions;
} AccordView;

// The functions of a stack. Times are nanoseconds since the start of the run, and never go back. After each
// call of an end Accord takes datagrams by `poll` until there is none, and then asks for the next wake-up.
// Functions that are optional may be null pointers.
typedef struct AccordStack {
  // sizeof(AccordStack).
  size_t size;
  // The first argument of `open`. Accord does not read it.
  void *user;
  // Creates an end of a connection: first the sending, then the receiving one. Returns a null pointer if
  // it cannot.
  void *(*open)(void *user, const struct AccordSetup *setup);
  // Frees an end. Optional.
  void (*close)(void *end);
  // Takes a datagram that arrived, with its ECN codepoint. Returns 1 if its contents are new, or 0.
  int (*receive)(void *end, const uint8_t *payload, size_t length, uint8_t ecn, uint64_t now);
  // Writes the next datagram to send now, and its ECN codepoint, which is 0 before. Returns the length, or
  // ACCORD_NOTHING.
  ptrdiff_t (*poll)(void *end, uint8_t *payload, size_t room, uint8_t *ecn, uint64_t now);
  // Returns the time of the next wake-up. ACCORD_UNKNOWN is never.
  uint64_t (*next_wake)(void *end);
  // Runs the timers that are due.
  void (*on_wake)(void *end, uint64_t now);
  // Supplies data that fills `packets` full packets, or data without end for UINT64_MAX. The first data
  // opens the connection. Only the sending end is called. Optional.
  void (*supply)(void *end, uint64_t packets, int is_transfer, uint64_t now);
  // Returns 1 if all of the last transfer was acknowledged, or 0. Optional; without it no transfer ends.
  int (*is_done)(void *end);
  // Ends the flow. Data that was not sent is never sent. Optional.
  void (*stop)(void *end, uint64_t now);
  // Writes the state that is known, for series and expectations. Optional.
  void (*view)(void *end, struct AccordView *view);
  // Returns the reason why the connection broke, or a null pointer. Valid until the next call. Optional.
  const char *(*broken)(void *end);
} AccordStack;

#ifdef __cplusplus
extern "C" {
#endif // __cplusplus

// Creates a net without a scenario. Free it with accord_net_free.
struct AccordNet *accord_net_new(void);

// Frees a net and its results. A null pointer is allowed. A net that runs is left as it is.
void accord_net_free(struct AccordNet *net);

// Takes the network from a scenario file, or a built-in scenario by its id. The file is read by
// accord_net_run.
enum AccordStatus accord_net_scenario(struct AccordNet *net, const char *name);

// Takes the network from the text of a scenario.
enum AccordStatus accord_net_network(struct AccordNet *net, const char *scenario);

// Sets the value at a dotted path of the scenario, such as "topology.dumbbell.rate" to "5 Mbps".
enum AccordStatus accord_net_set(struct AccordNet *net, const char *path, const char *value);

// Sets the seed of random numbers, in place of that of the scenario.
enum AccordStatus accord_net_seed(struct AccordNet *net, uint64_t seed);

// Sets the folder of captures and logs. The default is target/accord-net in the current folder.
enum AccordStatus accord_net_folder(struct AccordNet *net, const char *folder);

// Has all flows of this name or group carried by connections of a stack, one per flow and run. The
// functions are copied. `user` must live until the last run has ended.
enum AccordStatus accord_net_carry(struct AccordNet *net,
                                   const char *flow,
                                   const struct AccordStack *stack);

// Runs the scenario in packets, once or once per combination of its sweeps' values. Returns
// ACCORD_STATUS_OK if all that it expects of packets is met and no stack broke a rule. After a setting that was
// refused every run fails, with the status and the text of the first such setting. Can be called again,
// also with other settings.
enum AccordStatus accord_net_run(struct AccordNet *net);

// The text about the last status that was not ACCORD_STATUS_OK, or "". Of a failed run: the expectations with
// their values, times and packets, and the paths of the capture and of the logs.
const char *accord_net_message(const struct AccordNet *net);

// The path of the capture of the last run if that failed, or a null pointer.
const char *accord_net_capture(const struct AccordNet *net);

// The number of runs: 1, or that of the combinations of the sweeps' values; 0 before a run and after a wrong
// scenario.
size_t accord_net_runs(const struct AccordNet *net);

// Writes the mean of a metric over the steady part of a run, from 0: "goodput" of a flow or group, or
// "utilisation" of a link. The units are bit/s, bytes and seconds.
enum AccordStatus accord_net_mean(struct AccordNet *net,
                                  size_t run,
                                  const char *metric,
                                  const char *of,
                                  double *value);

// The digest of a run, from 0, or a null pointer. Two runs with the same digest sent the same packets at the same
// times.
const char *accord_net_digest(const struct AccordNet *net,
                              size_t run);

// Appends bytes to the log of an end, if `log` is not a null pointer. A length above PTRDIFF_MAX, as
// of a negative number, appends nothing.
void accord_log_write(struct AccordLog *log,
                      const void *bytes,
                      size_t length);

#ifdef __cplusplus
}  // extern "C"
#endif  // __cplusplus

#endif  /* ACCORD_NET_H */
