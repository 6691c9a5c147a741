//! The windows at the start of all families that have one, against RFC 5681 and RFC 6928.

use accord_control::{AnyController, Controller, FAMILIES};
use accord_units::Bytes;

/// RFC 5681 §3.1: two packets of more than 2190 bytes, three of more than 1095, else four.
fn rfc_5681(mss: u64) -> u64 {
    match mss {
        2191.. => 2 * mss,
        1096.. => 3 * mss,
        _ => 4 * mss,
    }
}

/// RFC 6928 §2, eq. 1: min(10·MSS, max(2·MSS, 14600)).
fn rfc_6928(mss: u64) -> u64 {
    (10 * mss).min((2 * mss).max(14_600))
}

/// The families with a window of ten packets, those of kernels and those that are younger than RFC 6928, have its
/// window. The others have that of RFC 5681, as their sources do. Both have
/// upper bounds in bytes: the defaults keep them at usual packets, and ten packets of 9000 bytes do
/// not.
#[test]
fn defaults_are_within_the_rfcs_at_usual_packets() {
    let mut tens = Vec::new();
    for family in FAMILIES {
        if family.params.iter().all(|p| p.name != "initial_window") {
            continue;
        }
        let start = |packet: u64| {
            let controller = AnyController::build(&family.defaults(), Bytes::new(packet));
            controller.cwnd().get()
        };
        let ten = start(1000) == 10_000;
        let bound = if ten { rfc_6928 } else { rfc_5681 };
        for packet in [536, 1000, 1220, 1460] {
            assert!(start(packet) <= bound(packet), "{} {packet}", family.name);
        }
        assert_eq!(start(9000) > bound(9000), ten, "{}", family.name);
        if ten {
            tens.push(family.name);
        }
    }
    tens.sort_unstable();
    assert_eq!(tens, ["bbr1", "bbr3", "c4", "copa", "cubic", "dctcp", "newreno", "prague"]);
}
