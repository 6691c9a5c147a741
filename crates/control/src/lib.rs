//! Congestion control without I/O and without a clock: estimators, policies, controllers.
