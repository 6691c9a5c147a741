//! The page in `web/dist` is built from the sources.

use std::path::Path;

/// Returns the files of a directory of `web`, by name.
fn files(dir: &str) -> Vec<String> {
    let web = Path::new(env!("CARGO_MANIFEST_DIR")).join("web");
    let entries = std::fs::read_dir(web.join(dir)).expect("it is there");
    let mut names: Vec<String> = entries
        .map(|e| e.expect("readable").file_name().into_string().expect("text"))
        .map(|name| format!("{dir}/{name}"))
        .collect();
    names.sort();
    names
}

/// Fails if sources have changed without `npm run build`. The laboratory takes its plots from the
/// page of results.
#[test]
fn the_bundle_is_that_of_the_sources() {
    let web = Path::new(env!("CARGO_MANIFEST_DIR")).join("web");
    let page = "../../report/web";
    let mut sources =
        vec!["package.json".to_string(), "lab.css".to_string(), "live.css".to_string()];
    sources.extend(files("src"));
    sources.push(format!("{page}/style.css"));
    sources.extend(files(&format!("{page}/src")));
    let mut hash = 0xcbf2_9ce4_8422_2325_u64;
    for file in sources {
        for byte in std::fs::read(web.join(file)).expect("readable") {
            hash = (hash ^ u64::from(byte)).wrapping_mul(0x100_0000_01b3); // FNV-1a
        }
    }
    let bundle = std::fs::read_to_string(web.join("dist/lab.html")).expect("it is there");
    let line = format!("<!doctype html><!-- sources {hash:016x} -->\n");
    assert!(bundle.starts_with(&line), "run `npm ci && npm run build` in crates/lab/web");
    let live =
        std::fs::read_to_string(web.join("../../../docs/live/live.js")).expect("it is there");
    assert!(
        live.starts_with(&format!("// sources {hash:016x}\n")),
        "run `npm ci && npm run build`"
    );
    assert!(
        !bundle.contains("src=\"http") && !bundle.contains("href=\"http"),
        "the page loads nothing"
    );
}
