//! A queue discipline that is an object of Python.

use super::classes::of;
use super::controller::{arguments, copied};
use super::failure::{fail, failing};
use accord::aqm::{AnyAqm, Aqm, Ecn, Entropy, Maker, PacketMeta, QueueView, Structure, Verdict};
use accord::family::Values;
use accord::units::{Bytes, Duration, Time};
use pyo3::exceptions::PyValueError;
use pyo3::intern;
use pyo3::prelude::*;
use std::fmt;

pub static MAKER: Maker = Maker { build: |values| AnyAqm::foreign(Disciplined::new(values)) };

/// The assumed packet size of parameters in packets, as for built-in disciplines.
const PACKET: Bytes = Bytes::new(1000);

/// The fields of a packet, for a discipline.
#[pyclass(frozen, get_all, module = "accord._accord")]
pub struct Packet {
    /// The size in bytes.
    size: u64,
    /// The flow and direction, as a number.
    flow: u32,
    /// True if it is ECN-capable.
    ecn: bool,
}

impl Packet {
    fn new(packet: &PacketMeta) -> Packet {
        Packet { size: packet.size.get(), flow: packet.flow, ecn: packet.ecn != Ecn::NotCapable }
    }
}

/// The queue at the packet's arrival or departure.
#[pyclass(frozen, get_all, module = "accord._accord")]
pub struct Queue {
    /// The packets queued.
    packets: u64,
    /// The bytes queued.
    bytes: u64,
    /// The rate of the link in bit/s.
    rate: f64,
    /// The size of the buffer in bytes, if known.
    capacity: Option<u64>,
}

impl Queue {
    fn new(queue: &QueueView) -> Queue {
        Queue {
            packets: queue.packets,
            bytes: queue.bytes.get(),
            rate: queue.rate.as_bps_f64(),
            capacity: queue.capacity.map(Bytes::get),
        }
    }
}

/// A discipline that is an object of Python. After an exception it passes everything.
struct Disciplined {
    /// The object; `None` if the class failed to create one.
    object: Option<Py<PyAny>>,
    /// True if it also judges departures.
    judges_departures: bool,
}

impl Disciplined {
    fn new(values: &Values) -> Disciplined {
        let made = Python::attach(|py| {
            let class = of(values.family()).class.bind(py);
            let object = class.call((), Some(&arguments(py, values, PACKET)?))?;
            let departures = class.call_method0("judges_departures")?;
            Ok((object.unbind(), departures.extract()?))
        });
        match made {
            Ok((object, judges_departures)) => {
                Disciplined { object: Some(object), judges_departures }
            }
            Err(e) => {
                fail(e);
                Disciplined { object: None, judges_departures: false }
            }
        }
    }

    /// Asks the object for a verdict.
    fn ask<'a>(
        &mut self,
        call: impl for<'py> FnOnce(&Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> + 'a,
    ) -> Verdict {
        let Some(object) = self.object.as_ref().filter(|_| !failing()) else {
            return Verdict::Pass;
        };
        let verdict = Python::attach(|py| {
            let answer = call(object.bind(py))?;
            if answer.is_none() {
                return Ok(Verdict::Pass);
            }
            match answer.extract::<&str>() {
                Ok("pass") => Ok(Verdict::Pass),
                Ok("mark") => Ok(Verdict::Mark),
                Ok("drop") => Ok(Verdict::Drop),
                _ => {
                    let class = object.bind(py).get_type().qualname()?;
                    let e = format!("a verdict of {class} is {}", answer.repr()?);
                    let expected = "expected \"pass\", \"mark\", \"drop\" or None";
                    Err(PyValueError::new_err(format!("{e}: {expected}")))
                }
            }
        });
        verdict.unwrap_or_else(|e| {
            fail(e);
            Verdict::Pass
        })
    }
}

impl Aqm for Disciplined {
    fn structure(&self) -> Structure {
        if self.judges_departures { Structure::Stamped } else { Structure::Fifo }
    }

    fn on_arrival(
        &mut self,
        packet: &PacketMeta,
        queue: &QueueView,
        now: Time,
        entropy: &mut dyn Entropy,
    ) -> Verdict {
        let (view, queue) = (Packet::new(packet), Queue::new(queue));
        let (now, uniform) = (now.as_secs_f64(), entropy.uniform());
        self.ask(|object| {
            let name = intern!(object.py(), "on_arrival");
            object.call_method1(name, (view, queue, now, uniform))
        })
    }

    fn on_departure(
        &mut self,
        packet: &PacketMeta,
        sojourn: Duration,
        queue: &QueueView,
        now: Time,
    ) -> Verdict {
        let (view, queue) = (Packet::new(packet), Queue::new(queue));
        let (now, sojourn) = (now.as_secs_f64(), sojourn.as_secs_f64());
        self.ask(|object| {
            let name = intern!(object.py(), "on_departure");
            object.call_method1(name, (view, sojourn, queue, now))
        })
    }
}

impl Clone for Disciplined {
    fn clone(&self) -> Disciplined {
        let object = self.object.as_ref().and_then(copied);
        Disciplined { object, ..*self }
    }
}

impl fmt::Debug for Disciplined {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "a discipline of Python")
    }
}
