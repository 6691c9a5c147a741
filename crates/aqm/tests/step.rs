//! The step against its definition.

use crate::common::{DATA, Random, queue, text, values};
use accord_aqm::{Aqm, Class, Ecn, PacketMeta, Step, Verdict};
use accord_family::Raw;
use accord_units::Time;

fn verdict(changes: &[(&str, Raw)], packet: &PacketMeta, found: u64) -> Verdict {
    let mut step = Step::new(&values("step", changes));
    step.on_arrival(packet, &queue(found), Time::ZERO, &mut Random(1))
}

#[test]
fn a_packet_that_finds_more_than_the_threshold_is_marked() {
    let capable = PacketMeta { ecn: Ecn::Capable, ..DATA };
    assert_eq!(verdict(&[], &capable, 20), Verdict::Pass);
    assert_eq!(verdict(&[], &capable, 21), Verdict::Mark);
    let bytes = [("threshold", text("5000 B"))];
    assert_eq!(verdict(&bytes, &capable, 5), Verdict::Pass, "of 1000 B each");
    assert_eq!(verdict(&bytes, &capable, 6), Verdict::Mark);
}

#[test]
fn a_packet_that_cannot_be_marked_passes_or_is_dropped() {
    let deaf = PacketMeta { ecn: Ecn::NotCapable, ..DATA };
    assert_eq!(verdict(&[], &deaf, 1000), Verdict::Pass);
    let drop = [("drop", Raw::Flag(true))];
    assert_eq!(verdict(&drop, &deaf, 21), Verdict::Drop);
    assert_eq!(verdict(&drop, &deaf, 20), Verdict::Pass);
    let control = PacketMeta { class: Class::OutOfBand, ..deaf };
    assert_eq!(verdict(&drop, &control, 1000), Verdict::Pass);
}
