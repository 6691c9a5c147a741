//! Equilibria of networks of congestion-controlled flows, with certificates.
