//! The parameters of one use of a family.

use crate::{Family, Param, Raw, Value};
use accord_units::{Duration, Rate, Size};

/// The parameters of one use of a [`Family`], complete and each in its range.
#[derive(Clone, Debug)]
pub struct Values {
    family: &'static Family,
    params: &'static [Param],
    values: Vec<Value>,
    /// Names of aggregates with their own parameters.
    aggregates: Vec<(String, Values)>,
}

impl PartialEq for Values {
    fn eq(&self, other: &Self) -> bool {
        self.family.name == other.family.name
            && self.values == other.values
            && self.aggregates == other.aggregates
    }
}

macro_rules! getter {
    ($(#[$doc:meta])* $name:ident, $option:ident, $variant:ident, $type:ty) => {
        $(#[$doc])*
        ///
        /// # Panics
        /// When the family has no such parameter, or it is absent: both are errors of
        /// the family's own table.
        pub fn $name(&self, name: &str) -> $type {
            self.$option(name).unwrap_or_else(|| {
                panic!("{} has no value for parameter {name}", self.family.name)
            })
        }

        /// The same, `None` where it was not given and has no default.
        pub fn $option(&self, name: &str) -> Option<$type> {
            match self.get(name) {
                Value::$variant(v) => Some(v),
                Value::Absent => None,
                v => panic!("parameter {name} of {} is {v:?}", self.family.name),
            }
        }
    };
}

impl Values {
    pub(crate) fn defaults(family: &'static Family, params: &'static [Param]) -> Values {
        Values {
            family,
            params,
            values: params.iter().map(Param::default_value).collect(),
            aggregates: Vec::new(),
        }
    }

    /// The parameters of an aggregate, to be set: at their defaults if it is new.
    pub fn aggregate_mut(&mut self, name: &str) -> &mut Values {
        let known = self.aggregates.iter().position(|(n, _)| n == name);
        let i = known.unwrap_or_else(|| {
            let params = self.family.aggregate_params();
            let defaults = Values::defaults(self.family, params);
            self.aggregates.push((name.to_string(), defaults));
            self.aggregates.len() - 1
        });
        &mut self.aggregates[i].1
    }

    /// Has exactly these aggregates, in this order, from now on: those that it was told
    /// nothing of have their defaults. Gives the name of one that it was told of and that
    /// is not among them, if there is one. A family without such parameters stays as it is.
    pub fn arrange_aggregates(&mut self, names: &[String]) -> Result<(), String> {
        if self.family.aggregate_params().is_empty() {
            return Ok(());
        }
        let strange = |(name, _): &&(String, Values)| !names.contains(name);
        if let Some((name, _)) = self.aggregates.iter().find(strange) {
            return Err(name.clone());
        }
        for name in names {
            self.aggregate_mut(name);
        }
        let place = |name: &String| names.iter().position(|n| n == name);
        self.aggregates.sort_by_key(|(name, _)| place(name));
        Ok(())
    }

    /// The aggregates with their parameters.
    pub fn aggregates(&self) -> impl ExactSizeIterator<Item = (&str, &Values)> {
        self.aggregates.iter().map(|(name, of)| (name.as_str(), of))
    }

    /// The family that these are parameters of.
    pub fn family(&self) -> &'static Family {
        self.family
    }

    /// Sets one parameter from a file's value. Fails where the name is unknown or the
    /// value is not of the parameter's kind or range.
    pub fn set(&mut self, name: &str, raw: &Raw) -> Result<(), String> {
        let i = self
            .params
            .iter()
            .position(|p| p.name == name)
            .ok_or_else(|| {
                let known: Vec<_> = self.params.iter().map(|p| p.name).collect();
                format!(
                    "{} has no parameter \"{name}\" (it has: {})",
                    self.family.name,
                    known.join(", ")
                )
            })?;
        self.values[i] = self.params[i].kind.read(raw)?;
        Ok(())
    }

    /// The value of a parameter.
    ///
    /// # Panics
    /// When the family has no such parameter.
    pub fn get(&self, name: &str) -> Value {
        let i = self.params.iter().position(|p| p.name == name);
        let i = i.unwrap_or_else(|| panic!("{} has no parameter {name}", self.family.name));
        self.values[i]
    }

    /// Parameters with their values, in the order of the table.
    pub fn iter(&self) -> impl Iterator<Item = (&'static Param, Value)> + '_ {
        self.params.iter().zip(self.values.iter().copied())
    }

    getter!(
        /// A number.
        number, number_opt, Number, f64
    );
    getter!(
        /// A whole number.
        integer, integer_opt, Integer, u64
    );
    getter!(
        /// A flag.
        flag, flag_opt, Flag, bool
    );
    getter!(
        /// Bytes or packets.
        size, size_opt, Size, Size
    );
    getter!(
        /// A span of time.
        duration, duration_opt, Duration, Duration
    );
    getter!(
        /// A rate.
        rate, rate_opt, Rate, Rate
    );
    getter!(
        /// A word.
        choice, choice_opt, Choice, &'static str
    );
}
