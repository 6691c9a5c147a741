//! Two gateways in network namespaces, over a bottleneck of the kernel. It takes root, or it is
//! skipped with the reason.

#![cfg(target_os = "linux")]
#![allow(clippy::print_stderr, reason = "it says why it is skipped")]

mod common;

use common::{INNER, OUTER, Path_, Queue, Sites, obstacle, rates};
use std::time::Duration;

fn path(queue: Queue) -> Path_ {
    Path_ {
        mbps: 20,
        buffer: 50_000,
        queue,
        delay: Duration::from_millis(10),
        loss_permille: 0,
    }
}

/// Measures what is promised under which circumstances; the table is in the book.
#[test]
#[ignore = "it takes minutes, and measures"]
fn floors() {
    if let Some(why) = obstacle() {
        return eprintln!("SKIPPED: {why}");
    }
    for queue in [Queue::Fifo, Queue::Expedited] {
        for buffer in [25_000, 50_000, 150_000] {
            for contract in ["0 Mbps", "10 Mbps"] {
                let path = Path_ {
                    buffer,
                    ..path(queue)
                };
                let mut sites = Sites::new(&path);
                let service = format!("service = {{ contract = \"{contract}\", weight = 1 }}");
                let files = sites.write(&format!("cap = \"50 Mbps\"\n{service}\n"));
                for (end, file) in files.iter().enumerate() {
                    sites.start(end, file);
                }
                assert!(sites.wait_for(0, "controlled", Duration::from_secs(10)));
                let tunnel = sites.tcp(INNER[1], 5001, "cubic");
                std::thread::sleep(Duration::from_secs(3));
                let alone = rates(&[&tunnel], 7.0);
                let beside = sites.tcp(OUTER[1], 5002, "cubic");
                std::thread::sleep(Duration::from_secs(5));
                let both = rates(&[&tunnel, &beside], 30.0);
                let peer = &sites.status(0)["peers"][0];
                eprintln!(
                    "{queue:?} {buffer} B, contract {contract}: alone {:.1}; beside CUBIC {:.1} and {:.1}; signal {}, lost pairs {}, unanswered {}, srtt {}",
                    alone[0],
                    both[0],
                    both[1],
                    peer["signal"],
                    peer["lost_pairs"],
                    peer["unanswered_pairs"],
                    peer["srtt_s"]
                );
            }
        }
    }
}
