//! The registry of the controllers of this crate.

use crate::{
    Acc, Bbr1, Bbr3, C4, Copa, Cubic, Dctcp, Ledbat, LedbatPp, MulTcp, Prague, Reno, Unresponsive,
    Vegas, VegasRem,
};
use crate::{
    Acked, Allowance, Burst, Capabilities, Congestion, Controller, Delivery, Foreign, Lost,
};
use crate::{PathView, Report};
use crate::{
    bbr1, bbr3, c4, copa, cubic, dctcp, ledbat, ledbat_pp, monaco, multcp, prague, reno,
    unresponsive, vegas, vegas_rem,
};
use accord_family::{Family, Service};
use accord_units::{Bytes, Duration, Rate, Time};
use std::hint::cold_path;

/// The largest congestion window that a controller of another crate may have: more than the data of
/// a second at 100 Gbps. A larger window panics the run.
pub const LARGEST_WINDOW: Bytes = Bytes::new(1 << 34);

/// Returns the allowance of a controller of another crate: its window, and its pace in bit/s or
/// `u64::MAX`. A call through a pointer returns the allowance in memory. Without this function the
/// other controllers would also have to return theirs in memory.
#[cold]
#[inline(never)]
fn in_registers(controller: &dyn Foreign) -> (u64, u64) {
    let Allowance { window, pacing } = controller.allowance();
    // A sender would otherwise fill the memory with packets unobserved.
    assert!(
        window <= LARGEST_WINDOW,
        "the window is {} B, and the largest is {} B",
        window.get(),
        LARGEST_WINDOW.get()
    );
    (window.get(), pacing.map_or(u64::MAX, Rate::as_bps))
}

/// A value in memory.
trait Place {
    /// Returns the address of the value and its size in bytes.
    fn place(&self) -> (*const u8, usize);
}

impl<C: Controller + ?Sized> Place for C {
    fn place(&self) -> (*const u8, usize) {
        (std::ptr::from_ref(self).cast(), size_of_val(self))
    }
}

macro_rules! any_controller {
    // Calls the same method of each variant.
    (@each [$($variant:ident)*] $self:ident, $of:ident => $call:expr) => {
        match $self {
            $(AnyController::$variant($of) => $call,)*
            AnyController::Foreign($of) => $call,
        }
    };
    // The methods that only call the same one of each variant.
    (@pass $variants:tt $(fn $name:ident(&mut $self:ident $(, $arg:ident: $type:ty)*) $(-> $out:ty)?;)*) => {
        $(fn $name(&mut $self $(, $arg: $type)*) $(-> $out)? {
            any_controller!(@each $variants $self, c => c.$name($($arg),*))
        })*
    };
    (@read $variants:tt $(fn $name:ident(&$self:ident) -> $out:ty;)*) => {
        $(fn $name(&$self) -> $out {
            any_controller!(@each $variants $self, c => c.$name())
        })*
    };
    ($($family:path => $(#[$doc:meta])* $variant:ident($type:ty),)*) => {
        /// The controllers that a scenario can name.
        pub static FAMILIES: &[&Family] = &[$(&$family),*];

        /// Any controller. Those of the registry are dispatched without indirection.
        #[derive(Clone, Debug)]
        pub enum AnyController {
            $($(#[$doc])* $variant($type),)*
            /// A controller of another crate.
            Foreign(Box<dyn Foreign>),
        }

        impl AnyController {
            /// Returns the address of the controller's state and its size in bytes, for prefetches.
            pub fn place(&self) -> (*const u8, usize) {
                any_controller!(@each [$($variant)*] self, c => c.place())
            }

            /// Calls [`Controller::on_ack`]. With references the caller would have to put the
            /// arguments in memory for all controllers.
            #[inline(never)]
            fn on_ack_by_value(&mut self, ack: Acked, path: PathView, now: Time) {
                self.on_ack(&ack, &path, now)
            }
        }

        impl Controller for AnyController {
            #[inline]
            fn on_ack(&mut self, ack: &Acked, path: &PathView, now: Time) {
                match self {
                    $(AnyController::$variant(c) => c.on_ack(ack, path, now),)*
                    AnyController::Foreign(c) => {
                        // Foreign controllers are rare, so their branch must not take registers
                        // from the others.
                        cold_path();
                        c.on_ack(ack, path, now)
                    }
                }
            }
            #[inline(always)]
            fn acknowledge(
                &mut self,
                ack: Acked,
                path: impl FnOnce() -> PathView,
                now: Time,
            ) -> Allowance {
                // Reno's window does not depend on the path, so no view is made.
                if let AnyController::Reno(c) | AnyController::NewReno(c) = self {
                    return c.acknowledge(ack, path, now);
                }
                self.on_ack_by_value(ack, path(), now);
                self.allowance()
            }
            any_controller! { @pass [$($variant)*]
                fn on_congestion(&mut self, what: Congestion, path: &PathView, now: Time);
                fn on_spurious(&mut self, now: Time);
                fn on_idle(&mut self);
                fn on_delivery(&mut self, delivery: &Delivery, path: &PathView, now: Time) -> bool;
                fn on_lost(&mut self, packet: &Lost, now: Time);
                fn on_sent(&mut self, bytes: Bytes, now: Time);
                fn on_restart(&mut self, now: Time);
                fn on_report(&mut self, report: &Report, path: &PathView, now: Time);
                fn set_base_rtt(&mut self, base_rtt: Duration);
                fn set_service(&mut self, service: &Service);
            }
            any_controller! { @read [$($variant)*]
                fn burst(&self) -> Burst;
                fn cwnd(&self) -> Bytes;
                fn ssthresh(&self) -> Option<Bytes>;
                fn accumulation_estimate(&self) -> Option<f64>;
                fn base_rtt_estimate(&self) -> Option<Duration>;
                fn memory(&self) -> Duration;
                fn capabilities(&self) -> Capabilities;
                fn takes_rounds(&self) -> bool;
            }
            #[inline(never)]
            fn inner(&self, values: &mut Vec<f64>) {
                any_controller!(@each [$($variant)*] self, c => c.inner(values))
            }
            #[inline(always)]
            fn allowance(&self) -> Allowance {
                match self {
                    $(AnyController::$variant(c) => c.allowance(),)*
                    AnyController::Foreign(c) => {
                        let (window, pace) = in_registers(&**c);
                        Allowance {
                            window: Bytes::new(window),
                            pacing: (pace != u64::MAX).then_some(Rate::from_bps(pace)),
                        }
                    }
                }
            }
        }
    };
}

any_controller! {
    monaco::FAMILY => /// Monaco.
        Monaco(Box<Acc>),
    vegas::VEGAS => /// TCP Vegas.
        Vegas(Box<Vegas>),
    vegas::VEGAS_K => /// Vegas-k.
        VegasK(Box<Vegas>),
    vegas_rem::FAMILY => /// Vegas with REM.
        VegasRem(Box<VegasRem>),
    reno::RENO => /// TCP Reno.
        Reno(Reno),
    reno::NEWRENO => /// TCP NewReno.
        NewReno(Reno),
    cubic::FAMILY => /// TCP CUBIC.
        Cubic(Cubic),
    multcp::FAMILY => /// MulTCP.
        MulTcp(Box<MulTcp>),
    bbr1::FAMILY => /// BBR version 1.
        Bbr1(Box<Bbr1>),
    bbr3::FAMILY => /// BBR version 3.
        Bbr3(Box<Bbr3>),
    c4::FAMILY => /// C4.
        C4(Box<C4>),
    dctcp::FAMILY => /// DCTCP.
        Dctcp(Box<Dctcp>),
    prague::FAMILY => /// Prague.
        Prague(Box<Prague>),
    copa::FAMILY => /// Copa.
        Copa(Box<Copa>),
    ledbat::FAMILY => /// LEDBAT.
        Ledbat(Box<Ledbat>),
    ledbat_pp::FAMILY => /// LEDBAT++.
        LedbatPp(Box<LedbatPp>),
    unresponsive::FAMILY => /// The absence of control.
        Unresponsive(Unresponsive),
}
