//! The answers as WebAssembly, in a worker of the page.
//!
//! The module has no imports but those below. A request is JSON in [`room`]; [`ask`] answers it and gives each event
//! to `event` as a line of JSON. A run is stopped by ending its worker.

use crate::desk::{Ask, Desk};
use crate::run::{Event, Page};
use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::RefCell;
use std::sync::LazyLock;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Scenarios have no file in a browser. The stem of this name is the id of a scenario without one.
const NAME: &str = "lab.toml";

mod page {
    #[link(wasm_import_module = "page")]
    #[allow(unsafe_code)]
    // SAFETY: the page gives the module these functions (web/src/worker.js).
    unsafe extern "C" {
        /// Takes the text of an event, which it copies before it returns.
        pub safe fn event(text: *const u8, length: usize);
        /// Takes the reason why the module is about to end. The text is copied before the call returns.
        pub safe fn failed(text: *const u8, length: usize);
        /// Returns the milliseconds since some moment.
        pub safe fn now() -> f64;
    }
}

/// The memory of the module, with the size of a request that it had to refuse.
struct Bounded;

static REFUSED: AtomicUsize = AtomicUsize::new(0);

#[allow(unsafe_code)]
// SAFETY: all calls go to the allocator of the system as they come, and its answers come back unchanged.
unsafe impl GlobalAlloc for Bounded {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        noted(unsafe { System.alloc(layout) }, layout.size())
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        noted(unsafe { System.alloc_zeroed(layout) }, layout.size())
    }

    unsafe fn dealloc(&self, place: *mut u8, layout: Layout) {
        unsafe { System.dealloc(place, layout) }
    }

    unsafe fn realloc(&self, place: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        noted(unsafe { System.realloc(place, layout, size) }, size)
    }
}

fn noted(place: *mut u8, size: usize) -> *mut u8 {
    if place.is_null() {
        REFUSED.store(size, Ordering::Relaxed);
    }
    place
}

#[global_allocator]
static MEMORY: Bounded = Bounded;

static DESK: LazyLock<Desk> = LazyLock::new(|| {
    std::panic::set_hook(Box::new(|panic| {
        let why = format!("a mistake in Accord: {panic}");
        page::failed(why.as_ptr(), why.len());
    }));
    Desk::new(accord::catalogue())
});

thread_local! {
    static REQUEST: RefCell<Vec<u8>> = const { RefCell::new(Vec::new()) };
}

struct Listener;

impl Page for Listener {
    fn now(&self) -> f64 {
        page::now() / 1000.0
    }

    fn show(&mut self, event: Event) -> bool {
        let line = serde_json::to_vec(&event).expect("events are plain data");
        page::event(line.as_ptr(), line.len());
        true
    }
}

/// Returns the place for a request of this length in bytes.
#[allow(unsafe_code)]
// SAFETY: no other function of the module has this name.
#[unsafe(no_mangle)]
pub extern "C" fn room(length: usize) -> *mut u8 {
    REQUEST.with_borrow_mut(|request| {
        *request = vec![0; length];
        request.as_mut_ptr()
    })
}

/// Answers the request in the [`room`].
#[allow(unsafe_code)]
// SAFETY: no other function of the module has this name.
#[unsafe(no_mangle)]
pub extern "C" fn ask() {
    let request = REQUEST.take();
    match serde_json::from_slice::<Ask>(&request) {
        Ok(ask) => DESK.serve(ask, NAME, &mut Listener),
        Err(e) => drop(Listener.show(Event::Refused { message: format!("not a request: {e}") })),
    }
}

/// Returns the size in bytes of the last request for memory that failed, or zero.
#[allow(unsafe_code)]
// SAFETY: no other function of the module has this name.
#[unsafe(no_mangle)]
pub extern "C" fn refused() -> usize {
    REFUSED.load(Ordering::Relaxed)
}
