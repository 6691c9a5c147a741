//! Tunnels: datagrams from an ingress to an egress, with a pair of control packets per round trip
//! [Xia05 §IV-B] and counts of the received data between them.

mod counts;
mod egress;
mod floor;
mod gaps;
mod ingress;
mod order;
mod queuing;
pub mod repair;

use counts::CountSchedule;
pub use egress::Egress;
pub use gaps::Gaps;
pub use ingress::Ingress;
pub use order::{Order, Part};
pub use queuing::Queuing;
