//! Quantities with units, their text form, and the tables that describe parameters.
