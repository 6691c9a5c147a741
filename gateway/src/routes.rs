//! Networks and the peers behind which they are.

use crate::config::Site;
use ipnet::IpNet;
use std::net::IpAddr;

/// The networks behind the peers, the longest prefix first.
#[derive(Clone, Debug, Default)]
pub struct Routes(Vec<(IpNet, usize)>);

impl Routes {
    /// Creates the routes of a site.
    pub fn new(site: &Site) -> Routes {
        let peers = site.peers.iter().enumerate();
        let mut routes: Vec<_> =
            peers.flat_map(|(i, peer)| peer.networks.iter().map(move |n| (*n, i))).collect();
        routes.sort_by_key(|(network, _)| std::cmp::Reverse(network.prefix_len()));
        Routes(routes)
    }

    /// Returns the peer behind which an address is.
    pub fn peer(&self, address: IpAddr) -> Option<usize> {
        let mut routes = self.0.iter();
        let found = routes.find(|(network, _)| network.contains(&address));
        found.map(|(_, peer)| *peer)
    }
}
