//! The first exception of the callbacks of a thread's run.

use pyo3::prelude::*;
use std::cell::RefCell;
use std::panic::resume_unwind;
use std::sync::atomic::{AtomicUsize, Ordering};

/// The number of programs in progress. During them exceptions are printed, and unwind the run.
static ALOUD: AtomicUsize = AtomicUsize::new(0);

/// Makes exceptions of callbacks unwind while it exists: the program's runs have no observer that takes them.
#[derive(Debug)]
pub struct Aloud(());

impl Aloud {
    /// Begins to let exceptions unwind.
    pub fn begin() -> Aloud {
        ALOUD.fetch_add(1, Ordering::Relaxed);
        Aloud(())
    }
}

impl Drop for Aloud {
    fn drop(&mut self) {
        ALOUD.fetch_sub(1, Ordering::Relaxed);
    }
}

thread_local! {
    static FAILURE: RefCell<Option<PyErr>> = const { RefCell::new(None) };
}

/// Takes the exception, if there is one. An engine that moves packets makes a run on one thread,
/// with its observer, so the exception belongs to the run.
pub fn failure() -> Option<PyErr> {
    FAILURE.with_borrow_mut(Option::take)
}

/// Keeps an exception, unless an earlier one is kept.
pub fn fail(e: PyErr) {
    if ALOUD.load(Ordering::Relaxed) > 0 {
        Python::attach(|py| e.print(py));
        // The traceback is printed, so a panic's own message would say it again.
        resume_unwind(Box::new(e.to_string()));
    }
    FAILURE.with_borrow_mut(|kept| {
        kept.get_or_insert(e);
    });
}

/// Returns true if a callback of this thread's run has failed. None is called after that.
pub fn failing() -> bool {
    FAILURE.with_borrow(Option::is_some)
}
