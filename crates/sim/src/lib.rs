//! The packet engine: discrete-event simulation of every packet.
