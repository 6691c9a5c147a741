//! The common part of the readers: nodes by key, one link per pair of nodes, limits.

use crate::attribute::{Property, Units, place, property};
use crate::error::{ImportError, quote};
use crate::limits;
use crate::topology::{Demand, Link, Node, Topology, Way};
use std::collections::{BTreeMap, BTreeSet};

/// Builds a topology.
#[derive(Default)]
pub(crate) struct Builder {
    pub units: Units,
    topology: Topology,
    /// Nodes by their key in the file.
    keys: BTreeMap<String, usize>,
    names: BTreeSet<String>,
    /// The last number appended to a repeated name.
    count: usize,
    /// Longitudes and latitudes, until both are known.
    places: Vec<[Option<f64>; 2]>,
    links: BTreeMap<(usize, usize), usize>,
    /// The directions in the file, by link: `there` and `back`.
    given_ways: Vec<[bool; 2]>,
    /// True if each direction of a link may be in the file. Otherwise a second link between two
    /// nodes is parallel to the first, regardless of its direction.
    directed: bool,
    /// The number of links read, including parallel ones.
    given: usize,
    assumed: bool,
    loops: usize,
    parallel: usize,
    /// The number of links with a rate of zero.
    off: usize,
    /// The number of damaged records, and the first error.
    damaged: usize,
    first: Option<ImportError>,
    /// The limit that the file exceeds.
    full: Option<ImportError>,
}

/// The properties of a link during reading.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Properties {
    way: Way,
    /// True if the rate had no unit.
    assumed: bool,
    /// True if the rate is zero.
    off: bool,
}

/// Returns a finite number, because the product of a number with its unit may be infinite.
pub(crate) fn bounded(number: f64) -> f64 {
    number.min(f64::MAX)
}

impl Properties {
    pub fn take(&mut self, property: Property) {
        match property {
            Property::Rate(rate) => self.way.rate = Some(bounded(rate)),
            Property::AssumedRate(rate) => {
                (self.way.rate, self.assumed) = (Some(bounded(rate)), true);
            }
            Property::NoRate => self.off = true,
            Property::Delay(delay) => self.way.delay = Some(bounded(delay)),
            Property::Length(length) => self.way.length = Some(bounded(length)),
            Property::Longitude(_) | Property::Latitude(_) => {}
        }
    }
}

impl Builder {
    /// Creates a builder of a graph, directed or not.
    pub fn new(directed: bool, units: &Units) -> Builder {
        Builder { directed, units: *units, ..Builder::default() }
    }

    /// Reads a record. One that cannot be read is counted and left out.
    pub fn record(&mut self, read: impl FnOnce(&mut Builder) -> Result<(), ImportError>) {
        if let Err(e) = read(self) {
            self.damaged += 1;
            self.first.get_or_insert(e);
        }
    }

    /// Returns the error of a limit that the file exceeds.
    fn beyond(&mut self, line: usize, most: usize, things: &str) -> ImportError {
        let error = ImportError::at(line, format!("more than {most} {things}"));
        self.full.get_or_insert(error).clone()
    }

    pub fn name(&mut self, name: &str) {
        self.topology.name = name.trim().chars().take(limits::NAME).collect();
    }

    /// Adds a remark unless it already exists.
    pub fn remark(&mut self, remark: impl Into<String>) {
        let (remark, remarks) = (remark.into(), &mut self.topology.remarks);
        if remarks.len() < limits::REMARKS && !remarks.contains(&remark) {
            remarks.push(remark);
        }
    }

    /// Adds a remark that ends with a count, unless that is zero.
    pub fn count(&mut self, what: &str, count: usize) {
        if count > 0 {
            self.remark(format!("{what}: {count}."));
        }
    }

    /// Adds a node under the key by which links name it. `label` is its display name.
    pub fn node(&mut self, key: &str, label: &str, line: usize) -> Result<usize, ImportError> {
        let id = self.topology.nodes.len();
        if id == limits::NODES {
            return Err(self.beyond(line, limits::NODES, "nodes"));
        }
        if self.keys.contains_key(key) {
            return Err(ImportError::at(line, format!("the node {} occurs twice", quote(key))));
        }
        self.keys.insert(key.to_string(), id);
        let name = self.unused(word(label));
        self.topology.nodes.push(Node { name, place: None });
        self.places.push([None; 2]);
        Ok(id)
    }

    /// Returns a unique name.
    fn unused(&mut self, name: String) -> String {
        let name = if name.is_empty() { "node".to_string() } else { name };
        let mut unique = name.clone();
        // One counter for all names bounds the number of attempts for any labels.
        while !self.names.insert(unique.clone()) {
            self.count += 1;
            unique = format!("{name}-{}", self.count);
        }
        unique
    }

    /// Stores a property of a node. Only its place matters.
    pub fn locate(&mut self, node: usize, property: Property) {
        match property {
            Property::Longitude(x) => self.places[node][0] = Some(x),
            Property::Latitude(x) => self.places[node][1] = Some(x),
            _ => {}
        }
        if let [Some(longitude), Some(latitude)] = self.places[node] {
            self.topology.nodes[node].place = place(longitude, latitude);
        }
    }

    /// Stores the attributes of a node.
    pub fn attributes<'a, V: AsRef<str>>(
        &mut self,
        node: usize,
        attributes: impl Iterator<Item = (&'a str, V)>,
    ) {
        for (name, value) in attributes {
            if let Ok(Some(property)) = property(name, value.as_ref(), &self.units) {
                self.locate(node, property);
            }
        }
    }

    /// Returns the properties of an edge by its attributes. Invalid ones are left out.
    pub fn properties<'a, V: AsRef<str>>(
        &mut self,
        attributes: impl Iterator<Item = (&'a str, V)>,
    ) -> Properties {
        let mut properties = Properties::default();
        for (name, value) in attributes {
            match property(name, value.as_ref(), &self.units) {
                Ok(property) => property.into_iter().for_each(|p| properties.take(p)),
                Err(unsound) => {
                    self.remark(format!("{} of an edge {unsound} and is left out.", quote(name)));
                }
            }
        }
        properties
    }

    /// Returns the node of a key.
    pub fn find(&self, key: &str, line: usize) -> Result<usize, ImportError> {
        self.keys.get(key).copied().ok_or_else(|| {
            ImportError::at(line, format!("there is no node {}", quote(key)))
                .hint("links and demands name nodes by their ids in the file")
        })
    }

    /// Returns the node of a key, which is created if there is none.
    pub fn find_or_make(&mut self, key: &str, line: usize) -> Result<usize, ImportError> {
        match self.keys.get(key) {
            Some(&node) => Ok(node),
            None => self.node(key, key, line),
        }
    }

    /// Adds a link. Links between the same two nodes become one with the total rate.
    pub fn link(
        &mut self,
        (from, to): (usize, usize),
        properties: Properties,
        line: usize,
    ) -> Result<(), ImportError> {
        self.given += 1;
        if self.given > limits::LINKS {
            return Err(self.beyond(line, limits::LINKS, "links"));
        }
        self.assumed |= properties.assumed;
        if from == to {
            self.loops += 1;
            return Ok(());
        }
        // With the rate of --rate it would be a link that does not exist according to the file.
        if properties.off {
            self.off += 1;
            return Ok(());
        }
        let ends = (from.min(to), from.max(to));
        let at = *self.links.entry(ends).or_insert_with(|| {
            let (there, back) = (Way::default(), Way::default());
            self.topology.links.push(Link { from, to, there, back });
            self.given_ways.push([false; 2]);
            self.topology.links.len() - 1
        });
        let link = &mut self.topology.links[at];
        let reverse = self.directed && (link.from, link.to) != (from, to);
        let way = if reverse { &mut link.back } else { &mut link.there };
        let given = &mut self.given_ways[at][usize::from(reverse)];
        self.parallel += usize::from(std::mem::replace(given, true));
        let new = properties.way;
        way.delay = way.delay.or(new.delay);
        way.length = way.length.or(new.length);
        way.rate = match (way.rate, new.rate) {
            (Some(a), Some(b)) => Some(bounded(a + b)),
            (a, b) => a.or(b),
        };
        Ok(())
    }

    /// Adds a demand. Skips a demand of zero, or from a node to itself.
    pub fn demand(
        &mut self,
        from: usize,
        to: usize,
        rate: f64,
        line: usize,
    ) -> Result<(), ImportError> {
        if from == to || rate <= 0.0 {
            return Ok(());
        }
        if self.topology.demands.len() == limits::DEMANDS {
            return Err(self.beyond(line, limits::DEMANDS, "demands"));
        }
        self.topology.demands.push(Demand { from, to, rate: bounded(rate) });
        Ok(())
    }

    /// Returns the topology, if there is one.
    pub fn finish(mut self) -> Result<Topology, ImportError> {
        if let Some(full) = self.full {
            return Err(full);
        }
        if self.topology.nodes.is_empty() || self.topology.links.is_empty() {
            let none = match self.topology.nodes.is_empty() {
                true => ImportError::whole("there are no nodes")
                    .hint("if the file has another format, name it with --format"),
                false if self.off > 0 => ImportError::whole("all links have a rate of 0"),
                false => ImportError::whole("there are no links"),
            };
            return Err(self.first.unwrap_or(none));
        }
        if let Some(first) = self.first.take() {
            let count = self.damaged;
            self.remark(format!("Damaged records, left out: {count}. The first: {first}."));
            self.topology.damaged = Some(first);
        }
        self.complete_directions();
        if self.assumed {
            self.remark("Capacities and demands without a unit are taken in that of --unit.");
        }
        self.count("Links from a node to itself, left out", self.loops);
        self.count("Parallel links, merged", self.parallel);
        self.count("Links with a rate of 0, left out", self.off);
        Ok(self.topology)
    }

    /// Completes each direction from the other one.
    fn complete_directions(&mut self) {
        for link in &mut self.topology.links {
            let (there, back) = (link.there, link.back);
            complete(&mut link.there, back);
            complete(&mut link.back, there);
        }
        let both = self.given_ways.iter().filter(|ways| ways.iter().all(|given| *given)).count();
        if both > 0 {
            let one = self.given_ways.len() - both;
            self.count("Links with one direction in the file, the other taken to be alike", one);
        }
    }
}

/// Completes a direction from the other one. A length also gives a delay.
fn complete(way: &mut Way, other: Way) {
    way.rate = way.rate.or(other.rate);
    if way.delay.is_none() && way.length.is_none() {
        (way.delay, way.length) = (other.delay, other.length);
    }
}

/// Converts a text to a word of letters, digits, `-` and `_`.
fn word(text: &str) -> String {
    let mut word = String::new();
    for c in text.trim().chars() {
        match c {
            c if c.is_alphanumeric() || c == '_' => word.push(c),
            _ if word.ends_with('-') => {}
            _ => word.push('-'),
        }
        if word.chars().count() == limits::NAME {
            break;
        }
    }
    word.trim_matches('-').to_string()
}
