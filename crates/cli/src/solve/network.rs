//! A network from its two tables: links with capacities, flows with paths and utilities.

use super::table::Table;
use crate::fail::Failure;
use accord::columns::Format;
use accord::solver::{Demand, Problem, ProblemError, Routes};
use indexmap::{IndexMap, IndexSet};
use std::path::Path;

const LINK_COLUMNS: [&str; 2] = ["link", "capacity_bps"];
const FLOW_COLUMNS: [&str; 14] = [
    "flow",
    "path",
    "utility",
    "weight",
    "cap_bps",
    "floor_bps",
    "limit",
    "alpha",
    "alpha_bps",
    "delay_s",
    "error",
    "rtt_s",
    "packet_bytes",
    "rate_bps",
];

/// Each utility's name and the columns that are its parameters.
const UTILITIES: [(&str, &[&str]); 7] = [
    ("log", &["weight"]),
    ("capped", &["weight", "cap_bps"]),
    ("contract", &["weight", "floor_bps", "limit", "cap_bps"]),
    ("alpha-fair", &["weight", "alpha"]),
    ("vegas", &["alpha_bps", "delay_s", "error"]),
    ("reno", &["rtt_s", "packet_bytes"]),
    ("fixed", &["rate_bps"]),
];

/// A problem with the names of its parts.
pub struct Network {
    pub problem: Problem,
    pub links: Vec<String>,
    pub flows: Vec<String>,
    /// The format of the table of flows.
    pub format: Format,
}

impl Network {
    /// Reads the tables of a directory.
    pub fn open(dir: &Path) -> Result<Network, Failure> {
        if !dir.is_dir() {
            let e = Failure::new(format!("{} is not a directory", dir.display()));
            let hint = "a network is a directory with links.csv and flows.csv (or .parquet)";
            return Err(e.hint(hint));
        }
        let links = Table::open(dir, "links")?;
        let flows = Table::open(dir, "flows")?;
        links.check_columns(&LINK_COLUMNS)?;
        flows.check_columns(&FLOW_COLUMNS)?;

        let link_names = names(&links, "link")?;
        let flow_names = names(&flows, "flow")?;
        let capacity = links.column("capacity_bps")?;
        let capacities = (0..links.rows())
            .map(|row| match links.number(row, capacity)? {
                Some(capacity) => Ok(capacity),
                None => Err(links.wrong(row, "there is no capacity")),
            })
            .collect::<Result<Vec<f64>, Failure>>()?;
        let demands = Demands::new(&flows);
        let demands = (0..flows.rows())
            .map(|row| demands.of(row))
            .collect::<Result<Vec<Demand>, Failure>>()?;

        let index: IndexMap<&str, u32> = (link_names.iter().map(String::as_str)).zip(0..).collect();
        let path = flows.column("path")?;
        let (mut offsets, mut hops) = (vec![0], Vec::new());
        for (row, flow) in flow_names.iter().enumerate() {
            for name in flows.text(row, path).unwrap_or_default().split_whitespace() {
                let Some(link) = index.get(name) else {
                    let e = format!("flow \"{flow}\" crosses the unknown link \"{name}\"");
                    let hint = format!("links are defined in {}", links.path.display());
                    return Err(flows.wrong(row, e).hint(hint));
                };
                hops.push(*link);
            }
            let Ok(end) = u32::try_from(hops.len()) else {
                return Err(flows.wrong(row, "more hops than 32-bit indices can count"));
            };
            offsets.push(end);
        }
        let problem = Routes::from_compressed(links.rows(), offsets, hops)
            .and_then(|routes| Problem::new(routes, capacities, demands))
            .map_err(|e| explain(e, &links, &link_names, &flows, &flow_names))?;
        Ok(Network { problem, links: link_names, flows: flow_names, format: flows.format })
    }
}

/// Returns the names in a column. None may be empty or occur twice.
fn names(table: &Table, kind: &str) -> Result<Vec<String>, Failure> {
    let column = table.column(kind)?;
    let mut names = Vec::with_capacity(table.rows());
    for row in 0..table.rows() {
        match table.text(row, column) {
            Some(name) => names.push(name.into_owned()),
            None => return Err(table.wrong(row, format!("the {kind} has no name"))),
        }
    }
    if names.iter().collect::<IndexSet<_>>().len() == names.len() {
        return Ok(names);
    }
    let mut order: Vec<usize> = (0..names.len()).collect();
    order.sort_by(|&a, &b| names[a].cmp(&names[b]));
    let twice = order.windows(2).find(|pair| names[pair[0]] == names[pair[1]]);
    if let Some(pair) = twice {
        let e = format!(
            "the {kind} \"{}\" is there already, at {}",
            names[pair[1]],
            table.place(pair[0])
        );
        return Err(table.wrong(pair[1], e));
    }
    Ok(names)
}

/// The columns of the flows' utilities.
struct Demands<'a> {
    table: &'a Table,
    utility: Option<usize>,
    parameters: Vec<(&'static str, usize)>,
}

impl<'a> Demands<'a> {
    fn new(table: &'a Table) -> Self {
        let parameters = FLOW_COLUMNS[3..].iter();
        Self {
            table,
            utility: table.optional("utility"),
            parameters: parameters
                .filter_map(|&name| Some((name, table.optional(name)?)))
                .collect(),
        }
    }

    fn of(&self, row: usize) -> Result<Demand, Failure> {
        let named = self.utility.and_then(|column| self.table.text(row, column));
        let named = named.as_deref().unwrap_or("log");
        let Some(&(utility, own)) = UTILITIES.iter().find(|(name, _)| *name == named) else {
            let known = UTILITIES.map(|(name, _)| name).join(", ");
            let e = self.table.wrong(row, format!("unknown utility \"{named}\""));
            return Err(e.hint(format!("known: {known}")));
        };
        let mut given: Vec<(&str, f64)> = Vec::new();
        for &(name, column) in &self.parameters {
            let Some(value) = self.table.number(row, column)? else {
                continue;
            };
            if !own.contains(&name) {
                let e = format!("{name} is not a parameter of the utility {utility}");
                let hint = format!("leave the cell empty; {utility} has: {}", own.join(", "));
                return Err(self.table.wrong(row, e).hint(hint));
            }
            given.push((name, value));
        }
        let find = |name: &str| given.iter().find(|(known, _)| *known == name).map(|pair| pair.1);
        let need = |name: &str| {
            find(name).ok_or_else(|| {
                let e = format!("the utility {utility} needs {name}");
                self.table.wrong(row, e)
            })
        };
        let positive = |name: &str, value: f64| match value > 0.0 {
            true => Ok(value),
            false => Err(self.table.wrong(row, format!("{name} is {value}; it must be positive"))),
        };
        let or = |name: &str, default: f64| find(name).unwrap_or(default);
        let weight = or("weight", 1.0);
        Ok(match utility {
            "log" => Demand::Log { weight },
            "capped" => Demand::Capped { weight, cap: need("cap_bps")? },
            "contract" => Demand::Contract {
                weight,
                floor: need("floor_bps")?,
                limit: or("limit", f64::INFINITY),
                cap: or("cap_bps", f64::INFINITY),
            },
            "alpha-fair" => Demand::AlphaFair { weight, alpha: need("alpha")? },
            "vegas" => {
                let alpha = positive("alpha_bps", need("alpha_bps")?)?;
                let delay = positive("delay_s", need("delay_s")?)?;
                let error = or("error", 0.0);
                if !error.is_finite() || error <= -1.0 {
                    let e = format!("error is {error}; it must be finite, and above -1");
                    return Err(self.table.wrong(row, e));
                }
                Demand::vegas(alpha, delay, error)
            }
            "reno" => {
                let packet = positive("packet_bytes", or("packet_bytes", 1500.0))?;
                Demand::Reno { round_trip: positive("rtt_s", need("rtt_s")?)? / (8.0 * packet) }
            }
            _ => Demand::Fixed { rate: need("rate_bps")? },
        })
    }
}

/// Returns the error of a problem with its row.
fn explain(
    error: ProblemError,
    links: &Table,
    link_names: &[String],
    flows: &Table,
    flow_names: &[String],
) -> Failure {
    let at_flow = |flow: usize, what: String| {
        flows.wrong(flow, format!("flow \"{}\" {what}", flow_names[flow]))
    };
    match error {
        ProblemError::EmptyRoute { flow } => {
            let e = at_flow(flow, "crosses no link, so nothing bounds its rate".into());
            e.hint("name the links of its path, separated by spaces")
        }
        ProblemError::RepeatedLink { flow, link } => {
            let link = &link_names[link as usize];
            at_flow(flow, format!("crosses link \"{link}\" more than once"))
        }
        ProblemError::BadDemand { flow, what, expected, value } => {
            at_flow(flow, format!("has {what} {value}; it must be {expected}"))
        }
        ProblemError::BadCapacity { link, value } => links.wrong(
            link,
            format!(
                "link \"{}\" has capacity {value}; it must be positive and finite",
                link_names[link]
            ),
        ),
        other => Failure::new(other),
    }
}
