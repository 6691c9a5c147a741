//! A controller that is an object of Python.

use super::classes::of;
use super::failure::{fail, failing};
use accord::control::{
    Acked, Allowance, AnyController, Capabilities, Congestion, Controller, LARGEST_WINDOW, Maker,
    Marks, PathView, Recovery, Transport,
};
use accord::family::{Service, Value, Values};
use accord::units::{Bytes, Duration, Rate, Time};
use pyo3::exceptions::PyValueError;
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use std::fmt;

pub static MAKER: Maker = Maker {
    build: |values, packet| AnyController::foreign(Controlled::new(values, packet)),
    transport: Transport::Stream,
};

/// The largest pace in bit/s: the largest integer that a 64-bit float counts exactly.
const LARGEST: f64 = (1u64 << 53) as f64;

/// The fields of an acknowledgement, for a controller.
#[pyclass(frozen, get_all, module = "accord._accord")]
pub struct Ack {
    /// The bytes that arrived.
    bytes: u64,
    /// The round-trip time in seconds, if there is a sample.
    rtt: Option<f64>,
    /// True if a round trip has ended.
    round_ended: bool,
    /// True if the sender used all of its window.
    window_limited: bool,
    /// True during loss recovery.
    in_recovery: bool,
    /// The number of marked packets.
    marked: u64,
}

/// The transport's state of the path. Times are in seconds, amounts in bytes.
#[pyclass(frozen, get_all, module = "accord._accord")]
pub struct Path {
    /// The size of a packet.
    packet: u64,
    /// The smoothed round-trip time, zero before the first sample.
    srtt: f64,
    /// The latest round-trip time.
    rtt: f64,
    /// The smallest round-trip time, infinite before the first sample.
    min_rtt: f64,
    /// The data sent and neither acknowledged nor declared lost.
    in_flight: u64,
}

impl Path {
    fn new(path: &PathView) -> Path {
        let min_rtt = match path.min_rtt {
            Duration::MAX => f64::INFINITY,
            measured => measured.as_secs_f64(),
        };
        Path {
            packet: path.packet.get(),
            srtt: path.srtt.as_secs_f64(),
            rtt: path.rtt.as_secs_f64(),
            min_rtt,
            in_flight: path.in_flight.get(),
        }
    }
}

/// A controller that is an object of Python. It is not called after an exception.
struct Controlled {
    /// The object; `None` if the class failed to create one.
    object: Option<Py<PyAny>>,
    allowance: Allowance,
    capabilities: Capabilities,
}

impl Controlled {
    fn new(values: &Values, packet: Bytes) -> Controlled {
        let made = Python::attach(|py| {
            let class = of(values.family()).class.bind(py);
            let object = class.call((packet.get(),), Some(&arguments(py, values, packet)?))?;
            let capabilities = capabilities(class)?;
            let allowance = allowance(&object)?;
            Ok((object.unbind(), capabilities, allowance))
        });
        match made {
            Ok((object, capabilities, allowance)) => {
                Controlled { object: Some(object), allowance, capabilities }
            }
            Err(e) => {
                fail(e);
                Controlled {
                    object: None,
                    allowance: Allowance { window: packet, pacing: None },
                    capabilities: Capabilities::default(),
                }
            }
        }
    }

    /// Calls the object, and reads its window and pace.
    fn call(&mut self, call: impl FnOnce(&Bound<'_, PyAny>) -> PyResult<()>) {
        let Some(object) = self.object.as_ref().filter(|_| !failing()) else {
            return;
        };
        let result = Python::attach(|py| {
            let object = object.bind(py);
            call(object)?;
            allowance(object)
        });
        match result {
            Ok(allowance) => self.allowance = allowance,
            Err(e) => fail(e),
        }
    }
}

/// Returns the parameters as keyword arguments: times in seconds, amounts in bytes, rates in bit/s.
pub fn arguments<'py>(
    py: Python<'py>,
    values: &Values,
    packet: Bytes,
) -> PyResult<Bound<'py, PyDict>> {
    let all = PyDict::new(py);
    for (param, value) in values.iter() {
        let name = param.name;
        match value {
            Value::Absent => all.set_item(name, py.None())?,
            Value::Number(v) => all.set_item(name, v)?,
            Value::Integer(v) => all.set_item(name, v)?,
            Value::Flag(v) => all.set_item(name, v)?,
            Value::Size(v) => all.set_item(name, v.bytes_f64(packet))?,
            Value::Duration(v) => all.set_item(name, v.as_secs_f64())?,
            Value::Rate(v) => all.set_item(name, v.as_bps_f64())?,
            Value::Choice(v) => all.set_item(name, v)?,
        }
    }
    Ok(all)
}

fn capabilities(class: &Bound<'_, PyAny>) -> PyResult<Capabilities> {
    let word = |name: &str| class.getattr(name)?.extract::<String>();
    let marks = match word("marks")?.as_str() {
        "nothing" => Marks::Nothing,
        "loss" => Marks::Loss,
        "price" => Marks::Price,
        other => {
            let e = format!("marks \"{other}\": expected nothing, loss or price");
            return Err(PyValueError::new_err(e));
        }
    };
    let recovery = match word("recovery")?.as_str() {
        "newreno" => Recovery::NewReno,
        "sack" => Recovery::Sack,
        other => {
            let e = format!("recovery \"{other}\": expected newreno or sack");
            return Err(PyValueError::new_err(e));
        }
    };
    Ok(Capabilities { recovery, marks, ..Capabilities::default() })
}

/// Reads `window` and `pacing` of an object.
fn allowance(object: &Bound<'_, PyAny>) -> PyResult<Allowance> {
    let py = object.py();
    let wrong = |name: &str, value: &Bound<'_, PyAny>, expected: &str| {
        let class = object.get_type().qualname();
        let class = class.map_or_else(|_| "controller".into(), |name| name.to_string());
        let value = value.repr().map_or_else(|_| "?".into(), |r| r.to_string());
        PyValueError::new_err(format!("{class}.{name} is {value}: expected {expected}"))
    };
    let window = object.getattr(intern!(py, "window"))?;
    let bytes = match window.extract::<f64>() {
        Ok(bytes) if bytes > 0.0 && bytes <= LARGEST_WINDOW.as_f64() => bytes,
        _ => {
            let expected = "a finite number of bytes, more than zero and at most 2^34";
            return Err(wrong("window", &window, expected));
        }
    };
    let pacing = object.getattr(intern!(py, "pacing"))?;
    let pacing = if pacing.is_none() {
        None
    } else {
        match pacing.extract::<f64>() {
            Ok(rate) if (1.0..=LARGEST).contains(&rate) => Some(Rate::from_bps_f64(rate)),
            _ => {
                let expected = "a finite number of bit/s, at least 1, or None";
                return Err(wrong("pacing", &pacing, expected));
            }
        }
    };
    Ok(Allowance { window: Bytes::from_f64(bytes), pacing })
}

impl Controller for Controlled {
    fn on_ack(&mut self, ack: &Acked, path: &PathView, now: Time) {
        let ack = Ack {
            bytes: ack.bytes.get(),
            rtt: ack.rtt.map(Duration::as_secs_f64),
            round_ended: ack.round_ended,
            window_limited: ack.window_limited,
            in_recovery: ack.in_recovery,
            marked: ack.marked,
        };
        let (path, now) = (Path::new(path), now.as_secs_f64());
        self.call(|object| {
            let name = intern!(object.py(), "on_ack");
            object.call_method1(name, (ack, path, now)).map(drop)
        });
    }

    fn on_congestion(&mut self, what: Congestion, path: &PathView, now: Time) {
        let what = match what {
            Congestion::Loss => "loss",
            Congestion::EarlyLoss => "early loss",
            Congestion::Ecn => "mark",
            Congestion::Timeout => "timeout",
            Congestion::RepeatedTimeout => "repeated timeout",
        };
        let (path, now) = (Path::new(path), now.as_secs_f64());
        self.call(|object| {
            let name = intern!(object.py(), "on_congestion");
            object.call_method1(name, (what, path, now)).map(drop)
        });
    }

    fn on_idle(&mut self) {
        self.call(|object| {
            let name = intern!(object.py(), "on_idle");
            object.call_method0(name).map(drop)
        });
    }

    fn allowance(&self) -> Allowance {
        self.allowance
    }

    fn ssthresh(&self) -> Option<Bytes> {
        None
    }

    fn capabilities(&self) -> Capabilities {
        self.capabilities
    }

    fn set_service(&mut self, service: &Service) {
        let weight = service.weight;
        self.call(|object| object.setattr(intern!(object.py(), "weight"), weight));
    }
}

impl Clone for Controlled {
    fn clone(&self) -> Controlled {
        let object = self.object.as_ref().and_then(copied);
        Controlled { object, ..*self }
    }
}

/// Returns a deep copy of an object.
pub fn copied(object: &Py<PyAny>) -> Option<Py<PyAny>> {
    let copy = Python::attach(|py| {
        let copy = py.import("copy")?.call_method1("deepcopy", (object,))?;
        Ok(copy.unbind())
    });
    copy.map_err(fail).ok()
}

impl fmt::Debug for Controlled {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "a controller of Python: {:?}", self.allowance)
    }
}
