//! Tunnels: datagrams from an ingress to an egress, with a pair of control packets per round trip
//! [Xia05 §IV-B].

mod egress;
mod ingress;

pub use egress::Egress;
pub use ingress::Ingress;
