//! Endpoints without I/O: sending, acknowledging, loss detection, pacing, control packets.
