//! Tables come back as they were written, and damaged files are errors.

use accord_columns::{Cell, Cells, Field, Format, Kind, Reader, Table, Writer, foreign};
use proptest::prelude::*;
use std::fs::File;
use std::path::Path;

fn fields() -> Vec<Field> {
    let kinds = [
        ("name", Kind::Text),
        ("index", Kind::Count),
        ("size", Kind::Long),
        ("time_s", Kind::Number),
        ("value", Kind::Optional),
    ];
    let field = |(name, kind): (&str, Kind)| Field::new(name, format!("about {name}"), kind);
    kinds.map(field).to_vec()
}

/// A row: the value is missing if it is `None`.
type Row = (String, i32, i64, f64, Option<f64>);

fn cells(rows: &[Row]) -> Vec<Cells<'_>> {
    vec![
        Cells::text(rows.iter().map(|r| r.0.as_str())),
        Cells::counts(rows.iter().map(|r| r.1)),
        Cells::Long(rows.iter().map(|r| r.2).collect()),
        Cells::Number(rows.iter().map(|r| r.3).collect()),
        Cells::Number(rows.iter().map(|r| r.4.unwrap_or(f64::NAN)).collect()),
    ]
}

fn write(path: &Path, format: Format, groups: &[&[Row]]) {
    let mut file = File::create(path).unwrap();
    let mut writer = Writer::new(&mut file, format, "rows", &fields(), &[]).unwrap();
    for rows in groups {
        writer.group(&cells(rows)).unwrap();
    }
    writer.finish().unwrap();
}

fn each<T: Clone>(runs: Vec<(T, usize)>) -> Vec<T> {
    let rows = runs.into_iter();
    rows.flat_map(|(value, n)| std::iter::repeat_n(value, n)).collect()
}

fn read(reader: &Reader, group: usize) -> Vec<Row> {
    let names = each(reader.texts(group, "name").unwrap());
    let indices = each(reader.counts(group, "index").unwrap());
    let sizes = reader.longs(group, "size").unwrap();
    let times = reader.numbers(group, "time_s").unwrap();
    let values = reader.numbers(group, "value").unwrap();
    let value = |v: f64| Some(v).filter(|v| !v.is_nan());
    (0..names.len())
        .map(|i| {
            let name = names[i].clone();
            (name, indices[i], sizes[i], times[i], value(values[i]))
        })
        .collect()
}

/// Rows whose first columns stay the same for up to `longest` rows.
fn rows(longest: usize) -> impl Strategy<Value = Vec<Row>> {
    let value = proptest::option::of(-1e9..1e9f64);
    let run = (".{0,4}", any::<i32>(), prop::collection::vec(value, 1..=longest));
    prop::collection::vec(run, 1..9).prop_map(|runs| {
        let mut rows = Vec::new();
        for (name, index, values) in runs {
            for value in values {
                let i = rows.len();
                rows.push((name.clone(), index, -(i as i64) << 33, i as f64 / 7.0, value));
            }
        }
        rows
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// Short runs are written by the library, and long ones as runs.
    #[test]
    fn rows_come_back(a in rows(2), b in rows(40)) {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("rows.parquet");
        write(&path, Format::Parquet, &[&a, &b]);
        let reader = Reader::open(File::open(&path).unwrap(), &fields()).unwrap();
        prop_assert_eq!(reader.groups(), 2);
        prop_assert_eq!(read(&reader, 0), a.clone());
        prop_assert_eq!(read(&reader, 1), b.clone());

        // The same, as a reader that expects nothing sees it.
        let columns = foreign(File::open(&path).unwrap()).unwrap();
        let all: Vec<&Row> = a.iter().chain(&b).collect();
        for (i, row) in all.iter().enumerate() {
            let value = row.4.map_or(Cell::Empty, Cell::Number);
            prop_assert_eq!(&columns[4].1[i], &value);
            prop_assert_eq!(&columns[1].1[i], &Cell::Number(f64::from(row.1)));
            prop_assert_eq!(&columns[0].1[i], &Cell::Text(row.0.trim().to_string()));
        }
    }

    /// Stretches of one and of many samples, that come again at once, later, or not.
    #[test]
    fn stretches_come_back(
        lengths in prop::collection::vec(0..300usize, 1..5),
        order in prop::collection::vec(any::<prop::sample::Index>(), 1..40),
    ) {
        let mut next = 0.0;
        let times: Vec<Vec<f64>> = (lengths.into_iter())
            .map(|n| (0..n).map(|_| { next += 0.125; next }).collect())
            .collect();
        let stretches: Vec<&[f64]> = order.iter().map(|i| &times[i.index(times.len())][..]).collect();
        let all = stretches.concat();
        for kind in [Kind::Number, Kind::Optional] {
            let dir = tempfile::tempdir().unwrap();
            let path = dir.path().join("times.parquet");
            let mut table = Table::default();
            table.add("time_s", "", kind, Cells::Stretches(stretches.clone()));
            table.write(&mut File::create(&path).unwrap(), Format::Parquet, "times").unwrap();
            let reader = Reader::open(File::open(&path).unwrap(), table.fields()).unwrap();
            if !all.is_empty() {
                prop_assert_eq!(&reader.numbers(0, "time_s").unwrap(), &all);
            }
            let mut text = Vec::new();
            table.write(&mut text, Format::Csv, "times").unwrap();
            let text = String::from_utf8(text).unwrap();
            let rows: Vec<f64> = text.lines().skip(1).map(|l| l.parse().unwrap()).collect();
            prop_assert_eq!(&rows, &all);
        }
    }

    /// No damage leads to a panic. Some leads to other values: who needs to know keeps a checksum.
    #[test]
    fn damage_never_panics(rows in rows(9), place in 0.0..1.0f64, byte in any::<u8>()) {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("rows.parquet");
        write(&path, Format::Parquet, &[&rows]);
        let mut bytes = std::fs::read(&path).unwrap();
        let i = (place * bytes.len() as f64) as usize;
        bytes[i] = byte;
        std::fs::write(&path, &bytes).unwrap();
        let _ = foreign(File::open(&path).unwrap());
        if let Ok(reader) = Reader::open(File::open(&path).unwrap(), &fields()) {
            for group in 0..reader.groups() {
                let _ = reader.texts(group, "name");
                let _ = reader.counts(group, "index");
                let _ = reader.longs(group, "size");
                let _ = reader.numbers(group, "time_s");
                let _ = reader.numbers(group, "value");
            }
        }
    }
}

#[test]
fn csv_has_a_line_per_row() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("rows.csv");
    let rows: [Row; 2] =
        [("a, b".into(), 1, 1 << 40, 0.5, None), ("a, b".into(), 1, 2, 0.75, Some(1e-9))];
    write(&path, Format::Csv, &[&rows]);
    let text = std::fs::read_to_string(&path).unwrap();
    let expected = "name,index,size,time_s,value\n\
                    \"a, b\",1,1099511627776,0.5,\n\
                    \"a, b\",1,2,0.75,0.000000001\n";
    assert_eq!(text, expected);
}

#[test]
fn columns_that_differ_in_length_are_an_error() {
    let mut table = Table::default();
    table.add("a", "", Kind::Count, Cells::counts([1, 2]));
    table.add("b", "", Kind::Number, Cells::Number(vec![1.0]));
    for format in [Format::Csv, Format::Parquet] {
        let e = table.write(&mut Vec::new(), format, "t").unwrap_err();
        assert_eq!(e.to_string(), "the columns differ in length");
    }
}

/// An output without room.
struct Full;

impl std::io::Write for Full {
    fn write(&mut self, _: &[u8]) -> std::io::Result<usize> {
        Err(std::io::ErrorKind::StorageFull.into())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

#[test]
fn a_full_disk_is_the_error_of_the_disk() {
    let mut table = Table::default();
    table.add("a", "", Kind::Count, Cells::counts([1, 2]));
    for format in [Format::Csv, Format::Parquet] {
        let e = table.write(&mut Full, format, "t").unwrap_err();
        assert_eq!(e.kind(), std::io::ErrorKind::StorageFull, "{e}");
    }
}

#[test]
fn other_columns_are_an_error() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("rows.parquet");
    let row: Row = ("a".into(), 1, 2, 3.0, None);
    write(&path, Format::Parquet, &[&[row]]);
    let open = |fields: &[Field]| {
        let reader = Reader::open(File::open(&path).unwrap(), fields);
        reader.err().unwrap().to_string()
    };
    let mut other = fields();
    other[1].kind = Kind::Long;
    assert_eq!(open(&other), "its columns have other types");
    other[1].name = "number".into();
    assert!(open(&other).contains("not [\"name\", \"number\""));
    std::fs::write(&path, "PAR1").unwrap();
    assert!(Reader::open(File::open(&path).unwrap(), &fields()).is_err());
}

/// A spreadsheet carries out a cell that begins like a formula. Numbers with units do not.
#[test]
fn csv_has_no_formulas() {
    let texts = [
        ("=1+1", "'=1+1"),
        ("@SUM(A1)", "'@SUM(A1)"),
        ("-2+3+cmd|' /C calc'!A0", "'-2+3+cmd|' /C calc'!A0"),
        ("+A1", "+A1"),
        ("-5 ms", "-5 ms"),
        ("a=b", "a=b"),
    ];
    let mut table = Table::default();
    let all = Cells::text(texts.iter().map(|(text, _)| *text));
    table.add("name", "a name", Kind::Text, all);
    let mut out = Vec::new();
    table.write(&mut out, Format::Csv, "names").unwrap();
    let read = csv::Reader::from_reader(&out[..]).into_records().map(|r| r.unwrap()[0].to_string());
    assert_eq!(read.collect::<Vec<_>>(), texts.map(|(_, safe)| safe.to_string()));
}
