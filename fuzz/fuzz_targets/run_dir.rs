//! A run directory with any bytes for one of its files: it is refused, or its runs are compared.
//! The first byte says which file; the rest is what is in it.
#![no_main]

use accord_report::{Point, RunDir, load_run_dir, rows, write_run_dir};
use accord_scenario::{Catalogue, File, Quiet};
use libfuzzer_sys::fuzz_target;
use std::path::PathBuf;
use std::sync::LazyLock;

const CATALOGUE: Catalogue = Catalogue {
    controllers: accord_control::FAMILIES,
    disciplines: accord_aqm::FAMILIES,
};

const SCENARIO: &str = r#"
    id = "fuzz"
    duration = "1 s"
    [topology.dumbbell]
    rate = "1 Mbps"
    delay = "5 ms"
    [flow.a]
    from = "left"
    to = "right"
    controller = "vegas"
"#;

const FILES: [&str; 2] = ["manifest.json", "series.parquet"];

/// A whole run directory, and the files of it that are read.
static WHOLE: LazyLock<(PathBuf, [Vec<u8>; 2])> = LazyLock::new(|| {
    let dir = std::env::temp_dir().join(format!("accord-fuzz-{}", std::process::id()));
    let file = File::parse("fuzz.toml", SCENARIO).expect("it is TOML");
    let scenario = file
        .points(&CATALOGUE, None)
        .expect("it is valid")
        .remove(0);
    let runs = [accord_sim::run(&scenario, &mut Quiet).expect("it runs")];
    let point = Point {
        scenario: &scenario,
        runs: &runs,
        checks: &[],
    };
    let contents = RunDir {
        scenario_toml: SCENARIO,
        point,
        page: None,
        csv: false,
    };
    write_run_dir(&dir, &contents).expect("it can be written");
    let files = FILES.map(|file| std::fs::read(dir.join(file)).expect("it is there"));
    (dir, files)
});

fuzz_target!(|bytes: &[u8]| {
    let (dir, whole) = &*WHOLE;
    let Some((which, bytes)) = bytes.split_first() else {
        return;
    };
    let which = usize::from(which & 1);
    std::fs::write(dir.join(FILES[which]), bytes).expect("it can be written");
    std::fs::write(dir.join(FILES[1 - which]), &whole[1 - which]).expect("it can be written");
    match load_run_dir(dir) {
        Ok(loaded) => drop(rows(&loaded.columns())),
        Err(e) => drop(e.to_string()),
    }
});
