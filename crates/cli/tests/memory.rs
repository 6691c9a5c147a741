//! The peak memory of the whole program for many flows, from reading the file to the page: the
//! bytes allocated at the same time. Times are not measured.

use std::alloc::{GlobalAlloc, Layout, System};
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};

/// The system's allocator with a counter.
struct Counting;

static HELD: AtomicUsize = AtomicUsize::new(0);
static MOST: AtomicUsize = AtomicUsize::new(0);

fn count(bytes: usize) {
    let held = HELD.fetch_add(bytes, Ordering::Relaxed) + bytes;
    MOST.fetch_max(held, Ordering::Relaxed);
}

// SAFETY: every call is passed unchanged to the system's allocator.
#[allow(unsafe_code)]
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        count(layout.size());
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, place: *mut u8, layout: Layout) {
        HELD.fetch_sub(layout.size(), Ordering::Relaxed);
        unsafe { System.dealloc(place, layout) }
    }

    unsafe fn realloc(&self, place: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        // The old and the new bytes may exist at the same time.
        count(size);
        HELD.fetch_sub(layout.size(), Ordering::Relaxed);
        unsafe { System.realloc(place, layout, size) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// Runs a scenario as the program does, in some engines. Returns the peak of allocated bytes beyond
/// those before.
fn most(name: &str, text: &str, engines: &str) -> usize {
    let dir = Path::new(env!("CARGO_TARGET_TMPDIR")).join("memory");
    std::fs::create_dir_all(&dir).expect("a directory");
    let file = dir.join(format!("{name}.toml"));
    std::fs::write(&file, text).expect("a file");
    let (file, output) = (file.to_string_lossy(), dir.join(name));
    let before = HELD.load(Ordering::Relaxed);
    MOST.store(before, Ordering::Relaxed);
    let output = output.to_string_lossy();
    let command =
        ["accord", "run", &file, "--engine", engines, "--quiet", "--fresh", "--output", &output];
    assert_eq!(accord_cli::main_from(command, &[], &[]), 0, "{name}");
    MOST.load(Ordering::Relaxed) - before
}

/// Returns a scenario of `flows` flows with `size` to send, which start within a second.
fn start(flows: usize, size: &str) -> String {
    format!(
        r#"
        title = "Short flows"
        duration = "2 s"
        sample = "10 ms"
        [topology.dumbbell]
        rate = "1 Gbps"
        delay = "10 ms"
        [flow.a]
        count = {flows}
        from = "left"
        to = "right"
        controller = "vegas"
        demand = {{ size = "{size}" }}
        start = {{ uniform = ["0 s", "1 s"] }}
        "#
    )
}

/// Returns a link with this delay, full of packets of 1000 bytes, without acknowledgements.
fn long(delay: usize) -> String {
    format!(
        r#"
        title = "A long link"
        duration = "1 s"
        sample = "10 ms"
        nodes = ["a", "b", "c"]
        [link.first]
        from = "a"
        to = "b"
        rate = "10 Gbps"
        delay = "{delay} ms"
        [link.second]
        from = "b"
        to = "c"
        rate = "10 Gbps"
        delay = "1 ms"
        [flow.a]
        from = "a"
        to = "c"
        controller = "none"
        demand = {{ constant = "8 Gbps" }}
        "#
    )
}

/// Returns a scenario of `flows` packet flows that fill 100 Gbps. The full link has 20 ms in flight
/// and 4 ms queued: 200 000 packets of 1500 bytes, and as many acknowledgements.
fn fast(flows: usize) -> String {
    format!(
        r#"
        title = "100 Gbps"
        duration = "1 s"
        sample = "10 ms"
        [topology.dumbbell]
        rate = "100 Gbps"
        delay = "10 ms"
        queue = {{ discipline = "droptail", limit = "50 MB" }}
        [flow.a]
        count = {flows}
        from = "left"
        to = "right"
        controller = {{ name = "newreno", initial_window = "2 pkt" }}
        start = {{ uniform = ["0 s", "0.2 s"] }}
        "#
    )
}

/// Returns a scenario of `flows` flows that share 40 Gbps. Whatever their number, the link holds
/// 267 000 packets of 1500 bytes.
fn crowded(flows: usize, controller: &str) -> String {
    let controller = match controller {
        "newreno" => "{ name = \"newreno\", initial_window = \"2 pkt\" }".to_owned(),
        other => format!("\"{other}\""),
    };
    format!(
        r#"
        title = "Many flows"
        duration = "0.4 s"
        sample = "40 ms"
        [topology.dumbbell]
        rate = "40 Gbps"
        delay = "20 ms"
        queue = {{ discipline = "droptail", limit = "200 MB" }}
        [flow.a]
        count = {flows}
        from = "left"
        to = "right"
        controller = {controller}
        start = {{ uniform = ["0 s", "0.2 s"] }}
        "#
    )
}

/// Returns a scenario of `flows` NewReno flows of 4 Mbps each, with access links of their own. A
/// flow has 33 packets in flight and queued, and twice as many at the end of slow start.
fn many(flows: usize) -> String {
    format!(
        r#"
        title = "Many flows with access links"
        duration = "0.4 s"
        sample = "40 ms"
        [topology.dumbbell]
        rate = "{} Mbps"
        delay = "18 ms"
        queue = {{ discipline = "droptail", limit = "{} pkt" }}
        [flow.a]
        count = {flows}
        from = "left"
        to = "right"
        controller = {{ name = "newreno", initial_window = "2 pkt" }}
        start = {{ uniform = ["0 s", "100 ms"] }}
        access = {{ rate = "100 Mbps", delay = "1 ms" }}
        egress = {{ rate = "100 Mbps", delay = "1 ms" }}
        "#,
        4 * flows,
        20 * flows
    )
}

/// Returns a scenario of `users` web users for `seconds` seconds, in packets: they fetch a file in
/// four seconds each.
fn web(users: usize, seconds: usize) -> String {
    format!(
        r#"
        title = "Web users"
        duration = "{seconds} s"
        sample = "100 ms"
        [topology.dumbbell]
        rate = "10 Gbps"
        delay = "10 ms"
        queue = {{ discipline = "droptail", limit = "10 MB" }}
        [flow.web]
        count = {users}
        from = "left"
        to = "right"
        controller = {{ name = "newreno", initial_window = "2 pkt" }}
        demand = {{ web = {{}} }}
        start = {{ uniform = ["0 s", "10 s"] }}
        "#
    )
}

/// Returns a scenario of two flows over a link that serves nothing for a second.
fn outage() -> String {
    r#"
        title = "An outage"
        duration = "20 s"
        sample = "100 ms"
        [topology.dumbbell]
        rate = "10 Mbps"
        delay = "10 ms"
        queue = { discipline = "droptail", limit = "unlimited" }
        [flow.a]
        count = 2
        from = "left"
        to = "right"
        controller = "vegas"
        [[event]]
        at = "8 s"
        link = "bottleneck"
        rate = "0 bps"
        [[event]]
        at = "9 s"
        link = "bottleneck"
        rate = "10 Mbps"
        "#
    .to_owned()
}

/// One test, since tests run concurrently and the counter is global.
#[test]
fn memory_is_proportional_to_flows_and_packets() {
    // Random starts make a phase each, and theory keeps the figures of one at a time. It leaves out
    // flows of a packet, and includes those that send until the end.
    let both = "theory,packet";
    // On several threads the peaks of the engines would coincide by chance.
    let pool = rayon::ThreadPoolBuilder::new().num_threads(1);
    pool.build_global().expect("the first pool");
    let (few, many) =
        (most("few", &start(10_000, "1 KB"), both), most("many", &start(20_000, "1 KB"), both));
    let each = (many - few) as f64 / 10_000.0;
    println!("{few} and {many} bytes: {each:.0} for each flow");
    let (near, distant) = (most("near", &long(100), both), most("distant", &long(400), both));
    let each_packet = (distant - near) as f64 / 300_000.0;
    println!("{near} and {distant} bytes: {each_packet:.0} for each packet on its way");
    assert!(each < 1800.0, "{each:.0} bytes for each flow");
    let crowd = most("crowd", &start(100_000, "1 KB"), both);
    println!("{crowd} bytes for 100 000 short flows");
    assert!(crowd < 178_000_000, "{crowd} bytes for 100 000 short flows");
    let lasting = most("lasting", &start(25_000, "1 GB"), "theory");
    println!("{lasting} bytes for 25 000 flows in theory");
    assert!(lasting < 10_000_000, "{lasting} bytes for 25 000 flows in theory");
    let fluid = most("fluid", &start(10_000, "1 GB"), "fluid");
    println!("{fluid} bytes for 10 000 flows in the fluid that start one by one");
    assert!(fluid < 150_000_000, "{fluid} bytes for 10 000 fluid flows");
    // The histories reach back over the second that bytes wait.
    let outage = most("outage", &self::outage(), "fluid");
    println!("{outage} bytes for an outage in the fluid");
    assert!(outage < 12_000_000, "{outage} bytes for an outage in the fluid");
    let wide = most("wide", &fast(10_000), both);
    println!("{wide} bytes for 10 000 flows that fill 100 Gbps");
    assert!(wide < 108_500_000, "{wide} bytes for 10 000 flows");
    for (controller, limit) in [("newreno", 1450.0), ("monaco", 2960.0)] {
        let [few, many] = [10_000, 20_000].map(|flows| {
            let name = format!("{controller}-{flows}");
            most(&name, &crowded(flows, controller), "packet")
        });
        let each = (many - few) as f64 / 10_000.0;
        println!("{few} and {many} bytes: {each:.0} for each {controller} flow that lasts");
        assert!(each < limit, "{each:.0} bytes for each {controller} flow");
    }
    let hosts = most("hosts", &self::many(25_000), "packet");
    println!("{hosts} bytes for 25 000 NewReno flows with access links, in packets");
    assert!(hosts < 266_000_000, "{hosts} bytes for 25 000 flows");
    // 1500 bytes per flow, and 100 for the record of each transfer.
    let transfers = most("transfers", &web(5_000, 210), both);
    println!("{transfers} bytes for 250 000 transfers of 5000 users");
    assert!(transfers < 57_000_000, "{transfers} bytes for 250 000 transfers");
    // Packets are allocated in blocks.
    assert!(each_packet < 101.0, "{each_packet:.0} bytes for each packet");
}
