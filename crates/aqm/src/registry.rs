//! The registry of the queue disciplines of this crate.

use crate::{Aggregate, Aqm, Entropy, Foreign, PacketMeta, QueueView, Structure, Verdict};
use crate::{Avd, Avq, Bat, Clcc, Codel, DropTail, DualPi2, FqCodel, Pie, Red, Rem, Step};
use crate::{avd, avq, bat, clcc, codel, droptail, dualpi2, fq_codel, host_fq};
use crate::{pie, red, rem, step};
use accord_family::Family;
use accord_units::{Duration, Time};
use std::hint::cold_path;

macro_rules! any_aqm {
    // Calls the same method of each variant.
    (@each [$($variant:ident)*] $self:ident, $of:ident => $call:expr) => {
        match $self {
            $(AnyAqm::$variant($of) => $call,)*
            AnyAqm::Foreign($of) => $call,
        }
    };
    // The methods that only call the same one of each variant.
    (@pass $variants:tt $(fn $name:ident(&mut $self:ident $(, $arg:ident: $type:ty)*);)*) => {
        $(fn $name(&mut $self $(, $arg: $type)*) {
            any_aqm!(@each $variants $self, a => a.$name($($arg),*))
        })*
    };
    (@read $variants:tt $(fn $name:ident(&$self:ident $(, $arg:ident: $type:ty)*) -> $out:ty;)*) => {
        $(fn $name(&$self $(, $arg: $type)*) -> $out {
            any_aqm!(@each $variants $self, a => a.$name($($arg),*))
        })*
    };
    ($($family:path => $(#[$doc:meta])* $variant:ident($type:ty),)*) => {
        /// The disciplines available to scenarios.
        pub static FAMILIES: &[&Family] = &[$(&$family),*];

        /// Any queue discipline. Those of the registry are dispatched statically.
        #[derive(Clone, Debug)]
        #[non_exhaustive]
        pub enum AnyAqm {
            $($(#[$doc])* $variant($type),)*
            /// A discipline of another crate.
            Foreign(Box<dyn Foreign>),
        }

        impl Aqm for AnyAqm {
            any_aqm! { @pass [$($variant)*]
                fn on_overflow(&mut self, packet: &PacketMeta);
                fn on_timer(&mut self, queue: &QueueView, now: Time);
            }
            any_aqm! { @read [$($variant)*]
                fn structure(&self) -> Structure;
                fn ignores_lone(&self) -> bool;
                fn aggregate(&self, index: usize) -> Option<Aggregate>;
                fn excess_bandwidth(&self) -> Option<f64>;
                fn price(&self) -> Option<f64>;
                fn next_timer(&self) -> Option<Time>;
            }
            #[inline]
            fn passes_all(&self) -> bool {
                match self {
                    $(AnyAqm::$variant(a) => a.passes_all(),)*
                    // Asking a foreign discipline costs as much as calling it.
                    AnyAqm::Foreign(_) => false,
                }
            }
            #[inline]
            fn on_departure(
                &mut self,
                packet: &PacketMeta,
                sojourn: Duration,
                queue: &QueueView,
                now: Time,
            ) -> Verdict {
                match self {
                    $(AnyAqm::$variant(a) => a.on_departure(packet, sojourn, queue, now),)*
                    AnyAqm::Foreign(a) => {
                        // Foreign disciplines are rare, so their branch must not take registers
                        // from the others.
                        cold_path();
                        a.on_departure(packet, sojourn, queue, now).on(packet)
                    }
                }
            }
            // Inlined, because ports call it from one place and a call costs 20 instructions per
            // packet.
            #[inline(always)]
            fn on_arrival(
                &mut self,
                packet: &PacketMeta,
                queue: &QueueView,
                now: Time,
                entropy: &mut dyn Entropy,
            ) -> Verdict {
                match self {
                    $(AnyAqm::$variant(a) => a.on_arrival(packet, queue, now, entropy),)*
                    AnyAqm::Foreign(a) => {
                        cold_path();
                        a.on_arrival(packet, queue, now, entropy).on(packet)
                    }
                }
            }
            #[inline]
            fn virtual_delay(&self, now: Time) -> Duration {
                match self {
                    $(AnyAqm::$variant(a) => a.virtual_delay(now),)*
                    AnyAqm::Foreign(a) => {
                        cold_path();
                        a.virtual_delay(now)
                    }
                }
            }
        }
    };
}

any_aqm! {
    droptail::FAMILY => /// Droptail.
        DropTail(DropTail),
    red::FAMILY => /// Random early detection.
        Red(Red),
    avq::FAMILY => /// Adaptive virtual queue.
        Avq(Avq),
    avd::FAMILY => /// Adaptive virtual delay.
        Avd(Avd),
    rem::FAMILY => /// Random exponential marking.
        Rem(Rem),
    bat::FAMILY => /// Bandwidth allocation.
        Bat(Bat),
    clcc::FAMILY => /// CLCC over [`Bat`].
        BatClcc(Box<Clcc<Bat>>),
    codel::FAMILY => /// Controlled delay.
        Codel(Codel),
    pie::FAMILY => /// Proportional integral controller enhanced.
        Pie(Pie),
    step::FAMILY => /// A step of marks.
        Step(Step),
    fq_codel::FAMILY => /// A queue per flow, each with a CoDel.
        FqCodel(FqCodel),
    host_fq::FAMILY => /// A queue per flow, with quanta shared by the flows of a host.
        HostFq(FqCodel),
    dualpi2::FAMILY => /// Two coupled queues.
        DualPi2(DualPi2),
}
