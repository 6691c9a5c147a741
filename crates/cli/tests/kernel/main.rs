//! Controllers in the kernel's TCP, over a shaped bottleneck between network namespaces.
//!
//! The test needs root, a kernel with BTF, and iproute2; otherwise it reports that it skipped. It has
//! no harness, because it starts itself as a program with faulty controllers of its own, and quinn's.

#![expect(clippy::print_stdout, reason = "without a harness it names its tests itself")]

#[path = "../common/mod.rs"]
mod common;

mod attaching;
mod bad;
mod host;
mod network;
mod robustness;
mod scenarios;

use host::SELF;
use std::process::ExitCode;

fn main() -> ExitCode {
    match std::env::var(SELF).as_deref() {
        Ok("program") => return host::main(),
        Ok("sockets") => return attaching::sockets(),
        Ok("echo") => return robustness::echo(),
        _ => {}
    }
    attaching::refused();
    scenarios::flows_refuse();
    println!("test what cannot run is refused with the reason ... ok");
    if let Some(why) = host::missing() {
        println!("SKIPPED: controllers in the kernel's TCP: {why}");
        return ExitCode::SUCCESS;
    }
    let tests: [(&str, fn()); 17] = [
        ("controllers carry data", attaching::controllers_carry_data),
        ("two controllers have their own connections", attaching::two_controllers_have_their_own),
        ("accepted connections have the default", attaching::accepted_connections_have_the_default),
        ("metrics have an address", attaching::metrics_have_an_address),
        ("flows of a live run have their controllers", scenarios::flows_have_it),
        ("connections survive kill -9", robustness::connections_survive_a_kill),
        ("connections beyond the slots carry data", robustness::many_connections),
        ("connections survive bad controllers", robustness::bad_decisions),
        ("connections survive a full ring", robustness::full_ring),
        ("a client detaches", attaching::a_client_detaches),
        ("a command has the controller", attaching::a_command_has_it),
        ("a missing command leaves nothing", attaching::a_missing_command_leaves_nothing),
        ("a command has its signals", attaching::a_command_has_its_signals),
        ("signals end it", robustness::signals_end_it),
        ("commands end by a signal", robustness::commands_end_by_a_signal),
        ("a stopped process does not answer", robustness::a_stopped_process_does_not_answer),
        ("a full disk costs messages", robustness::a_full_disk_costs_messages),
    ];
    // As with a harness, arguments are parts of the names of tests.
    let only: Vec<String> = std::env::args().skip(1).collect();
    let only: Vec<_> = only.iter().filter(|word| !word.starts_with('-')).collect();
    let chosen = |name: &str| only.is_empty() || only.iter().any(|word| name.contains(*word));
    for (name, test) in tests.into_iter().filter(|(name, _)| chosen(name)) {
        test();
        println!("test {name} ... ok");
    }
    ExitCode::SUCCESS
}
