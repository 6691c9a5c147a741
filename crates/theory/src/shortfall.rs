//! Contracts that are not met, and their description.

use accord_scenario::{LinkId, Scenario};
use accord_units::{Bytes, Rate, Time};

/// The relative difference up to which rates count as equal.
pub(crate) const NEAR: f64 = 1e-6;
/// The number of flows, links or clusters of flows that are named. The others are counted.
const NAMED: usize = 4;

/// A phase in which flows do not get all of their services.
#[derive(Clone, Debug, PartialEq)]
pub struct Shortfall {
    /// The start of the phase.
    pub start: Time,
    /// The end of the phase.
    pub end: Time,
    /// The links whose contracts add up to more than their capacity, the worst first
    /// [Har02 eq. 15].
    pub oversubscribed: Vec<Oversubscribed>,
    /// The flows that get less than they are due. Equal flows share an entry. Those that lack the largest
    /// fraction come first.
    pub held: Vec<Held>,
    /// The outcome.
    pub outcome: Outcome,
}

/// A link whose contracts exceed its capacity.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Oversubscribed {
    /// The link.
    pub link: LinkId,
    /// The sum of the contracts, to the extent that applications use them, in bit/s.
    pub contracts: f64,
    /// The capacity of the link, in bit/s.
    pub capacity: f64,
}

/// Flows that get less than they are due.
#[derive(Clone, Debug, PartialEq)]
pub struct Held {
    /// The indices of the flows.
    pub flows: Vec<usize>,
    /// The rate of each flow, in bit/s. With [`Outcome::FullBuffers`] it is the rate delivered
    /// through buffers that are always full.
    pub rate: f64,
    /// The contract of each flow and its share at the price of its path, in bit/s.
    pub due: f64,
    /// The part of each flow's contract that its application uses, in bit/s.
    pub contract: f64,
    /// The accumulation limit that holds each flow [Har02 eq. 16]. It is `None` with full buffers.
    pub limit: Option<Bytes>,
}

/// The outcome of a phase with a shortfall.
#[derive(Clone, Debug, PartialEq)]
pub enum Outcome {
    /// The phase has an equilibrium, due to accumulation limits.
    Equilibrium,
    /// The buffers of these links are full [Har02 eq. 17], and there is no equilibrium.
    FullBuffers(Vec<LinkId>),
    /// Theory has no equilibrium, for another reason or because queues grow without end.
    None,
}

impl Held {
    /// Returns whether the contract is not met.
    pub fn breaks_contract(&self) -> bool {
        self.rate < self.contract * (1.0 - NEAR)
    }
}

impl Shortfall {
    /// Returns a line with each binding constraint and its flows.
    pub fn text(&self, scenario: &Scenario) -> String {
        let mut text = String::new();
        if let Some((worst, others)) = self.oversubscribed.split_first() {
            let name = &scenario.links[worst.link].name;
            let (contracts, capacity) = (rate(worst.contracts), rate(worst.capacity));
            let others = match others.len() {
                0 => String::new(),
                1 => ", one more link is oversubscribed".into(),
                n => format!(", {n} more links are oversubscribed"),
            };
            text += &format!(
                "contracts on {name} add up to {contracts} of {capacity}{others}; floors are not met"
            );
        }
        let then = match &self.outcome {
            Outcome::None => return text,
            Outcome::Equilibrium if text.is_empty() => String::new(),
            Outcome::Equilibrium => "equilibrium would be: ".into(),
            Outcome::FullBuffers(links) => {
                let names = listed(links, "links", |&l| scenario.links[l].name.clone());
                format!(
                    "no accumulation limit holds the flows; the buffer of {names} fills, windows halve at losses and never settle; if it were always full: "
                )
            }
        };
        let flows = listed(&self.held, "kinds of flows", |h| {
            let names = listed(&h.flows, "flows", |&f| scenario.flows[f].name.clone());
            let (gets, contract) = (rate(h.rate), rate(h.contract));
            let Some(limit) = h.limit else {
                return format!("{names} {gets} of a contract of {contract}");
            };
            let (is, its, gets_verb) = match h.flows.len() {
                1 => ("is", "its", "gets"),
                _ => ("are each", "the", "get"),
            };
            let broken = if h.breaks_contract() {
                format!(", less than {its} contract of {contract}")
            } else {
                String::new()
            };
            let due = rate(h.due);
            format!(
                "{names} {is} held at {its} accumulation limit of {limit} and {gets_verb} {gets} of {due}{broken}"
            )
        });
        if !text.is_empty() {
            text += ": ";
        }
        text + &then + &flows
    }
}

/// Returns some of the items in words, separated by semicolons or, if short, by commas.
fn listed<T>(items: &[T], kind: &str, word: impl Fn(&T) -> String) -> String {
    let words: Vec<String> = items.iter().take(NAMED).map(word).collect();
    let comma = if words.iter().any(|w| w.contains(", ")) { "; " } else { ", " };
    let mut text = words.join(comma);
    if items.len() > NAMED {
        text += &format!(" and {} more {kind}", items.len() - NAMED);
    }
    text
}

/// Returns a rate in bit/s to four digits.
fn rate(bps: f64) -> String {
    let digit = libm::pow(10.0, (libm::log10(bps.max(1.0)).floor() - 3.0).max(0.0));
    Rate::from_bps_f64((bps / digit).round() * digit).to_string()
}
