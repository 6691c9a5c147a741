//! The result of the readers.

use crate::error::ImportError;

/// A network and its demands.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Topology {
    /// The name in the file, or "".
    pub name: String,
    /// The nodes, with unique names of letters, digits, `-` and `_`.
    pub nodes: Vec<Node>,
    /// The links, each in both directions. No two join the same nodes, and none joins a node to
    /// itself.
    pub links: Vec<Link>,
    /// The demands, none from a node to itself.
    pub demands: Vec<Demand>,
    /// Omissions and assumptions, one sentence each.
    pub remarks: Vec<String>,
    /// The error of the first damaged record that was left out.
    pub damaged: Option<ImportError>,
}

/// A node.
#[derive(Clone, Debug, PartialEq)]
pub struct Node {
    /// The name.
    pub name: String,
    /// The longitude and latitude, in degrees.
    pub place: Option<[f64; 2]>,
}

/// A link.
#[derive(Clone, Debug, PartialEq)]
pub struct Link {
    /// The index of a node.
    pub from: usize,
    /// The index of the other node.
    pub to: usize,
    /// The direction from `from` to `to`.
    pub there: Way,
    /// The direction from `to` to `from`. It equals `there` unless the file has it.
    pub back: Way,
}

/// A direction of a link.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Way {
    /// The rate, in bit/s, more than zero.
    pub rate: Option<f64>,
    /// The propagation delay, in seconds.
    pub delay: Option<f64>,
    /// The length, in kilometres.
    pub length: Option<f64>,
}

/// A demand.
#[derive(Clone, Debug, PartialEq)]
pub struct Demand {
    /// The index of a node.
    pub from: usize,
    /// The index of the other node.
    pub to: usize,
    /// The rate, in bit/s, more than zero.
    pub rate: f64,
}

/// The mean radius of the earth, in kilometres.
const EARTH: f64 = 6371.0;

impl Topology {
    /// Returns the length of a direction of a link in kilometres: as given, or else the great-circle
    /// distance of its nodes.
    pub fn length(&self, link: &Link, way: &Way) -> Option<f64> {
        if way.length.is_some() {
            return way.length;
        }
        let [a, b] = [link.from, link.to].map(|node| self.nodes[node].place);
        let ([lon_a, lat_a], [lon_b, lat_b]) = (a?.map(f64::to_radians), b?.map(f64::to_radians));
        let half = |angle: f64| (angle / 2.0).sin().powi(2);
        let h = half(lat_b - lat_a) + lat_a.cos() * lat_b.cos() * half(lon_b - lon_a);
        Some(2.0 * EARTH * h.sqrt().min(1.0).asin())
    }

    /// Returns the index of each node's connected component.
    pub fn parts(&self) -> Vec<usize> {
        let mut neighbours = vec![Vec::new(); self.nodes.len()];
        for link in &self.links {
            neighbours[link.from].push(link.to);
            neighbours[link.to].push(link.from);
        }
        let mut parts = vec![usize::MAX; self.nodes.len()];
        for first in 0..self.nodes.len() {
            if parts[first] != usize::MAX {
                continue;
            }
            let mut open = vec![first];
            parts[first] = first;
            while let Some(node) = open.pop() {
                for &next in &neighbours[node] {
                    if parts[next] == usize::MAX {
                        parts[next] = first;
                        open.push(next);
                    }
                }
            }
        }
        parts
    }
}
