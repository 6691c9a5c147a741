//! `accord solve`: correct answers, and all invalid inputs with their place.

use parquet::record::RowAccessor;
use std::path::Path;
use std::process::{Command, Output};
use tempfile::TempDir;

/// Creates a directory with the two tables.
fn network(links: &str, flows: &str) -> TempDir {
    let dir = tempfile::tempdir().unwrap();
    std::fs::write(dir.path().join("links.csv"), links).unwrap();
    std::fs::write(dir.path().join("flows.csv"), flows).unwrap();
    dir
}

fn accord(dir: &Path, more: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_accord"));
    command.arg("solve").arg(dir).args(more).env("NO_COLOR", "1");
    command.output().unwrap()
}

/// Returns the answer as JSON, and the exit code.
fn solve(links: &str, flows: &str, more: &[&str]) -> (serde_json::Value, i32) {
    let dir = network(links, flows);
    let output = accord(dir.path(), &[more, &["--json"]].concat());
    let text = String::from_utf8(output.stdout).unwrap();
    let errors = String::from_utf8_lossy(&output.stderr);
    let json = serde_json::from_str(&text).unwrap_or_else(|e| panic!("{e}: {text} {errors}"));
    (json, output.status.code().unwrap())
}

fn column(records: &serde_json::Value, name: &str) -> Vec<f64> {
    let records = records.as_array().unwrap().iter();
    records.map(|r| r[name].as_f64().unwrap()).collect()
}

#[track_caller]
fn near(found: &[f64], expected: &[f64]) {
    assert_eq!(found.len(), expected.len());
    for (a, b) in found.iter().zip(expected) {
        assert!((a - b).abs() <= 1e-9 * b.abs(), "{found:?} {expected:?}");
    }
}

const LINKS: &str = "link,capacity_bps\na,9e6\nb,9e6\n";

#[test]
fn a_parking_lot_with_its_bounds() {
    let flows = "flow,path,weight\nlong,a b,24e3\nx,a,24e3\ny,b,24e3\n";
    let (json, code) = solve(LINKS, flows, &[]);
    assert_eq!((json["status"].as_str(), code), (Some("solved"), 0));
    near(&column(&json["flows"], "rate_bps"), &[3e6, 6e6, 6e6]);
    near(&column(&json["links"], "price"), &[4e-3, 4e-3]);
    let (low, high) = (column(&json["flows"], "low_bps"), column(&json["flows"], "high_bps"));
    for (flow, rate) in [3e6, 6e6, 6e6].into_iter().enumerate() {
        assert!(low[flow] <= rate && rate <= high[flow]);
        assert!(high[flow] - low[flow] < 1e-4 * rate);
    }
    let (json, code) = solve(LINKS, flows, &["--max-min"]);
    assert_eq!(code, 0);
    near(&column(&json["flows"], "rate_bps"), &[4.5e6; 3]);
    assert_eq!(json["flows"][1]["bottleneck"], "a");
}

/// The example of the docs is table III of [Low02].
#[test]
fn the_example_of_the_docs() {
    let dir = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/examples/backbone");
    let output = accord(&dir, &["--json"]);
    let json: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    let rates = column(&json["flows"], "rate_bps");
    for (class, kilobytes) in
        [1381.966, 1381.966, 3618.034, 2236.068, 3618.034, 1000.0].into_iter().enumerate()
    {
        for rate in &rates[50 * class..50 * (class + 1)] {
            assert!((rate / 8e3 - kilobytes).abs() < 1e-3, "{class}: {rate}");
        }
    }
}

#[test]
fn every_utility_in_one_table() {
    // Each alone on a private link, so its rate is known.
    let links = "link,capacity_bps\n1,10\n2,10\n3,10\n4,10\n5,10\n6,10\n7,10\n8,10\n";
    let flows = "\
flow,path,utility,weight,cap_bps,floor_bps,limit,alpha,alpha_bps,delay_s,error,rtt_s,packet_bytes,rate_bps
a,1,,3,,,,,,,,,,
b,2,capped,1,4,,,,,,,,,
c,3,contract,2,,4,,,,,,,,
d,4,alpha-fair,1,,,,2,,,,,,
e,5,vegas,,,,,,2,3,0.5,,,
f,6,reno,,,,,,,,,0.4,1,
g,7,fixed,,,,,,,,,,,2.5
h,8,contract,2,,4,30,,,,,,,
";
    let (json, code) = solve(links, flows, &[]);
    assert_eq!((json["status"].as_str(), code), (Some("solved"), 0));
    near(&column(&json["flows"], "rate_bps"), &[10.0, 4.0, 10.0, 10.0, 10.0, 10.0, 2.5, 10.0]);
    // U′(10) of each: 3/10, 0, 2/(10-4), 1/10², 1.5·2·3/10 + 0.5·3, 1/(1 + (10·0.4/8)²/2), 0, 2/6.
    near(
        &column(&json["links"], "price"),
        &[0.3, 0.0, 1.0 / 3.0, 0.01, 2.4, 1.0 / 1.125, 0.0, 1.0 / 3.0],
    );
}

#[test]
fn flows_that_do_not_meet_and_18_orders_of_magnitude() {
    let (json, code) = solve(
        "link,capacity_bps\nthin,1e-9\nfat,1e9\nidle,5\n",
        "flow,path\na,thin\nb,fat\nc,thin fat\nd,fat\n",
        &[],
    );
    assert_eq!((json["status"].as_str(), code), (Some("solved"), 0));
    near(&column(&json["flows"], "rate_bps"), &[5e-10, 5e8, 5e-10, 5e8]);
    near(&column(&json["links"], "price")[2..], &[0.0]);
}

#[test]
fn oversubscription_is_a_status() {
    let flows = "flow,path,utility,floor_bps\nx,a,contract,5e6\ny,a,contract,6e6\n";
    let (json, code) = solve(LINKS, flows, &[]);
    assert_eq!((json["status"].as_str(), code), (Some("infeasible"), 1));
    assert!(json["problem"].as_str().unwrap().contains("of link \"a\""));
    let text = accord(network(LINKS, flows).path(), &[]);
    let text = String::from_utf8(text.stdout).unwrap();
    assert!(text.contains("infeasible") && !text.contains("proven"), "{text}");
}

#[test]
fn bad_input_is_named_with_its_place() {
    let good = "flow,path\nx,a\n";
    let cases: &[(&str, &str, &str)] = &[
        ("link,capacity_bps\n", good, "links.csv has no rows"),
        (LINKS, "flow,path\n", "flows.csv has no rows"),
        ("link,capacity_bps\na,0\n", good, "links.csv:2: link \"a\" has capacity 0"),
        ("link,capacity_bps\nb,1\na,-1\n", good, "links.csv:3: link \"a\" has capacity -1"),
        ("link,capacity_bps\na,NaN\n", good, "has capacity NaN"),
        ("link,capacity_bps\na,inf\n", good, "has capacity inf"),
        ("link,capacity_bps\na,\n", good, "links.csv:2: there is no capacity"),
        ("link,capacity_bps\na,ten\n", good, "capacity_bps \"ten\" is not a number"),
        (
            "link,capacity_bps\na,1\n\n# two\na,2\n",
            good,
            "links.csv:5: the link \"a\" is there already",
        ),
        ("link,capacity_bps\n,1\n", good, "links.csv:2: the link has no name"),
        ("link,capacity\na,1\n", good, "the column \"capacity\" is unknown"),
        ("link\na\n", good, "there is no column \"capacity_bps\""),
        (LINKS, "flow,path\nx,a\ny,\n", "flows.csv:3: flow \"y\" crosses no link"),
        (LINKS, "flow,path\nx,a q\n", "flows.csv:2: flow \"x\" crosses the unknown link \"q\""),
        (LINKS, "flow,path\nx,a b a\n", "crosses link \"a\" more than once"),
        (LINKS, "flow,path\nx,a\nx,b\n", "flows.csv:3: the flow \"x\" is there already"),
        (LINKS, "flow,path,weight\nx,a,0\n", "flows.csv:2: flow \"x\" has weight 0"),
        (LINKS, "flow,path,weight\nx,a,-3\n", "has weight -3"),
        (LINKS, "flow,path,weight\nx,a,nan\n", "has weight NaN"),
        (LINKS, "flow,path,weight\nx,a\n", "flows.csv:2: 2 cells, but 3 columns"),
        (LINKS, "flow,path,utility\nx,a,logg\n", "unknown utility \"logg\""),
        (LINKS, "flow,path,utility\nx,a,capped\n", "the utility capped needs cap_bps"),
        (
            LINKS,
            "flow,path,utility,alpha_bps,delay_s\nx,a,vegas,1e5,0\n",
            "delay_s is 0; it must be positive",
        ),
        (
            LINKS,
            "flow,path,utility,alpha_bps,delay_s,error\nx,a,vegas,1e5,0.1,-1\n",
            "flows.csv:2: error is -1; it must be finite, and above -1",
        ),
        (
            LINKS,
            "flow,path,utility,floor_bps,cap_bps\nx,a,contract,2e6,1e6\n",
            "flow \"x\" has cap 1000000; it must be the floor at least",
        ),
        (LINKS, "flow,path,cap_bps\nx,a,5\n", "cap_bps is not a parameter of the utility log"),
        (LINKS, "flow,path,path\nx,a,a\n", "the column \"path\" occurs twice"),
    ];
    for (links, flows, expected) in cases {
        let dir = network(links, flows);
        let output = accord(dir.path(), &[]);
        let text = String::from_utf8(output.stderr).unwrap();
        // The report wraps long lines.
        let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
        let text = text.replace("│ ", "");
        assert_eq!(output.status.code(), Some(2), "{links}{flows}: {text}");
        assert!(text.contains(expected), "{expected}: {text}");
        assert!(output.stdout.is_empty());
    }
    let dir = network(LINKS, "flow,path,utility,rtt_s\nx,a,reno,0.1\n");
    let output = accord(dir.path(), &["--max-min"]);
    assert_eq!(output.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&output.stderr).contains("flow \"x\": max-min fairness"));
}

#[test]
fn tables_out_are_what_json_says_in_both_formats() {
    let flows = "flow,path,weight\nlong,a b,24e3\nx,a,24e3\ny,b,24e3\n";
    let dir = network(LINKS, flows);
    let out = dir.path().join("answer");
    let output = accord(dir.path(), &["-q", "-o", out.to_str().unwrap()]);
    assert_eq!(output.status.code(), Some(0));
    let rates = std::fs::read_to_string(out.join("rates.csv")).unwrap();
    let mut lines = rates.lines();
    assert_eq!(lines.next(), Some("flow,rate_bps,low_bps,high_bps,path_price"));
    assert!(lines.next().unwrap().starts_with("long,"));
    let prices = std::fs::read_to_string(out.join("prices.csv")).unwrap();
    assert!(prices.starts_with("link,capacity_bps,load_bps,price\na,9000000,"));

    // The same network in Parquet gives the same answer, in Parquet.
    let other = tempfile::tempdir().unwrap();
    parquet_table(
        &other.path().join("links.parquet"),
        "message m { required binary link (UTF8); required double capacity_bps; }",
        &["a", "b"],
        None,
        &[9e6, 9e6],
    );
    parquet_table(
        &other.path().join("flows.parquet"),
        "message m { required binary flow (UTF8); required binary path (UTF8); \
         required double weight; }",
        &["long", "x", "y"],
        Some(&["a b", "a", "b"]),
        &[24e3; 3],
    );
    let out = other.path().join("answer");
    let output = accord(other.path(), &["-o", out.to_str().unwrap(), "--json"]);
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    let json: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    near(&column(&json["flows"], "rate_bps"), &[3e6, 6e6, 6e6]);
    let reader = parquet::file::reader::SerializedFileReader::new(
        std::fs::File::open(out.join("rates.parquet")).unwrap(),
    );
    let rows: Vec<_> = reader.unwrap().into_iter().map(Result::unwrap).collect();
    assert_eq!(rows.len(), 3);
    let (name, rate) = (rows[0].get_string(0).unwrap(), rows[0].get_double(1).unwrap());
    assert_eq!(name, "long");
    near(&[rate], &[3e6]);
}

/// Writes a Parquet file with one or two columns of text and one of numbers.
fn parquet_table(path: &Path, schema: &str, a: &[&str], b: Option<&[&str]>, numbers: &[f64]) {
    use parquet::data_type::{ByteArray, ByteArrayType, DoubleType};
    let schema = parquet::schema::parser::parse_message_type(schema).unwrap();
    let file = std::fs::File::create(path).unwrap();
    let mut file =
        parquet::file::writer::SerializedFileWriter::new(file, schema.into(), Default::default())
            .unwrap();
    let mut group = file.next_row_group().unwrap();
    for texts in [Some(a), b].into_iter().flatten() {
        let texts: Vec<ByteArray> = texts.iter().map(|&text| text.into()).collect();
        let mut column = group.next_column().unwrap().unwrap();
        let typed = column.typed::<ByteArrayType>();
        typed.write_batch(&texts, None, None).unwrap();
        column.close().unwrap();
    }
    let mut column = group.next_column().unwrap().unwrap();
    let typed = column.typed::<DoubleType>();
    typed.write_batch(numbers, None, None).unwrap();
    column.close().unwrap();
    group.close().unwrap();
    file.close().unwrap();
}

/// 10⁶ to the power −1000 underflows: the page reports that it has no answer, and shows no NaN.
#[test]
fn prices_beyond_all_numbers_are_reported() {
    let flows = "flow,path,utility,alpha\nx,a,alpha-fair,1000\ny,a,alpha-fair,1000\n";
    let of = |capacity: &str| {
        let dir = network(&format!("link,capacity_bps\na,{capacity}\n"), flows);
        let ended = accord(dir.path(), &[]);
        (ended.status.code(), String::from_utf8(ended.stdout).unwrap())
    };
    let (code, page) = of("1e6");
    assert!(code == Some(1) && page.contains("did not converge"), "{page}");
    assert!(!page.contains("NaN"), "{page}");
    // In another unit there is one.
    assert_eq!(of("1.5").0, Some(0));
}

/// docs/src/theory.md follows one network, as a scenario and as tables.
#[test]
fn the_example_of_the_docs_both_ways() {
    let examples = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/examples");
    let page = include_str!("../../../docs/src/theory.md");
    let text = std::fs::read_to_string(examples.join("lot.toml")).unwrap();
    for line in text.lines().filter(|line| !line.is_empty()) {
        assert!(page.contains(&format!("{line}\n")), "{line}");
    }
    let solved = accord(&examples.join("lot"), &[]);
    let solved = String::from_utf8(solved.stdout).unwrap();
    let out = tempfile::tempdir().unwrap();
    let run = Command::new(env!("CARGO_BIN_EXE_accord"))
        .current_dir(out.path())
        .arg("run")
        .arg(examples.join("lot.toml"))
        .args(["--engine", "theory"])
        .output()
        .unwrap();
    let run = String::from_utf8(run.stdout).unwrap();
    // The run knows the loads of control packets.
    for (rate, rest) in [("6.00 Mbps", "5.96 Mbps"), ("3.00 Mbps", "2.98 Mbps")] {
        assert!(solved.contains(rate), "{solved}");
        assert!(run.contains(rest) && page.contains(rest), "{run}");
    }
    let shown = "theory: optimal";
    assert!(run.contains(shown) && page.contains(shown), "{run}");
}

#[test]
fn flows_whose_rates_are_not_pinned_are_named() {
    // At alpha = 0.01 a utility is almost linear: a price fits any rate.
    let flows = "\
flow,path,utility,weight,alpha
a,1,alpha-fair,1,0.01
b,2,alpha-fair,1,0.01
c,1 2,alpha-fair,1,0.01
";
    let links = "link,capacity_bps\n1,1e7\n2,1e7\n";
    let text = accord(network(links, flows).path(), &[]);
    let text = String::from_utf8(text.stdout).expect("text");
    let of = |start: &str| text.lines().find(|l| l.starts_with(start));
    let loose = of("not proven: the rate of ").unwrap_or_else(|| panic!("{text}"));
    assert!(loose.contains("c:"), "{text}");
    assert!(!text.contains("proven: every rate"), "{text}");
}

/// A flow that its cap keeps at its floor has that rate, and the other one the rest.
#[test]
fn a_floor_that_is_the_cap_leaves_the_rest() {
    let flows = "flow,path,utility,floor_bps,cap_bps\nx,a,contract,2e6,2e6\ny,a,log,,\n";
    let (json, code) = solve(LINKS, flows, &[]);
    assert_eq!((json["status"].as_str(), code), (Some("solved"), 0));
    near(&column(&json["flows"], "rate_bps"), &[2e6, 7e6]);
}

/// Floors that fill a link exactly leave nothing, and floors beyond it are said with their excess.
#[test]
fn floors_that_fill_a_link_are_said() {
    let said = |floor: &str| {
        let flows = format!("flow,path,utility,floor_bps\nx,a,contract,{floor}\ny,a,log,\n");
        let output = accord(network(LINKS, &flows).path(), &[]);
        assert_eq!(output.status.code(), Some(1));
        String::from_utf8_lossy(&output.stdout).into_owned()
            + &String::from_utf8_lossy(&output.stderr)
    };
    let full = said("9e6");
    assert!(
        full.contains("fixed rates and floors take all 9.000000e6 bit/s of link \"a\""),
        "{full}"
    );
    let over = said("9000001");
    assert!(over.contains("1.11e-5 % more than it has"), "{over}");
}
