//! Reads a run directory with any bytes for one of its files. It is refused, or its runs are compared. The
//! first byte selects the file; the rest is its contents.

use accord::Catalogue;
use accord::language::File;
use accord::record::Quiet;
use accord::report::{Point, RunDir, columns, load_run_dir, rows, write_run_dir};
use std::path::{Path, PathBuf};

const CATALOGUE: Catalogue =
    Catalogue { controllers: accord::control::FAMILIES, disciplines: accord::aqm::FAMILIES };

const SCENARIO: &str = r#"
    id = "fuzz"
    duration = "1 s"
    sample = "250 ms"
    [topology.dumbbell]
    rate = "1 Mbps"
    delay = "5 ms"
    [flow.a]
    from = "left"
    to = "right"
    controller = "vegas"
"#;

/// The files that are read.
const FILES: [&str; 2] = ["manifest.json", "series.parquet"];

/// A run directory with the original contents of its files.
pub struct Whole {
    dir: PathBuf,
    /// The first file and the second.
    pub files: [Vec<u8>; 2],
}

impl Whole {
    /// Writes a run to `dir`.
    pub fn new(dir: &Path) -> Whole {
        let file = File::parse("fuzz.toml", SCENARIO).expect("it is TOML");
        let scenario = file.points(&CATALOGUE, None).expect("it is valid").remove(0);
        let runs = [accord::sim::run(&scenario, &mut Quiet).expect("it runs")];
        let point = Point { scenario: &scenario, runs: &runs, checks: &[] };
        let contents = RunDir { scenario_toml: SCENARIO, point, page: None, csv: false };
        write_run_dir(dir, &contents).expect("it can be written");
        Whole {
            dir: dir.into(),
            files: FILES.map(|file| std::fs::read(dir.join(file)).expect("it is there")),
        }
    }

    /// Returns true if the directory could be read.
    pub fn check(&self, bytes: &[u8]) -> bool {
        let Some((which, bytes)) = bytes.split_first() else {
            return false;
        };
        let (this, other) = match which & 1 {
            0 => (0, 1),
            _ => (1, 0),
        };
        let write = |file: usize, bytes: &[u8]| {
            let path = self.dir.join(FILES[file]);
            // Some file systems write a file that is made shorter to the disk at once.
            std::fs::remove_file(&path).expect("it is there");
            std::fs::write(path, bytes).expect("it can be written");
        };
        write(this, bytes);
        write(other, &self.files[other]);
        match load_run_dir(&self.dir) {
            Ok(loaded) => {
                let runs: Vec<_> = loaded.runs.iter().collect();
                drop(rows(&columns(&loaded.manifest.scenario, &runs)));
            }
            Err(e) => {
                assert!(!e.to_string().is_empty());
                return false;
            }
        }
        true
    }
}
