//! The parameters of one use of a family.

use crate::{Family, Invalid, Objective, Param, Raw, Role, Value};
use accord_units::{Duration, Rate, Size};

/// The parameters of one use of a [`Family`]: complete, and each within its range.
#[derive(Clone, Debug)]
pub struct Values {
    family: &'static Family,
    params: &'static [Param],
    values: Vec<Value>,
    /// The names of aggregates with their own parameters.
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
        /// Panics if the family has no such parameter, or if the parameter is absent. Both are
        /// errors of the family's own table.
        pub fn $name(&self, name: &str) -> $type {
            self.$option(name).unwrap_or_else(|| {
                panic!("{} has no value for parameter {name}", self.family.name)
            })
        }

        /// Returns the same value as a `Some`, or `None` if the parameter was not given and has no
        /// default.
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

    /// Returns whether a controller with these parameters sends a stream, whose packets are
    /// acknowledged one by one. Tunnels and unresponsive senders do not.
    pub fn is_stream(&self) -> bool {
        let role = &self.family.role;
        matches!(role, Role::Controller(_)) && role.objective(self) != Some(Objective::Unresponsive)
    }

    /// Returns the reason, if any, why an operating system's TCP cannot run a controller with these
    /// parameters.
    pub fn unfit_for_tcp(&self) -> Option<String> {
        let why = match self.family.role {
            Role::Controller(_) if self.is_stream() => return None,
            Role::Controller(_) => "does not respond to the network, and TCP needs a window",
            Role::Tunnel(_) => "needs pairs of control packets, and TCP has acknowledgements only",
            Role::Queue(_) => "is a queue discipline",
        };
        let name = self.family.name;
        Some(format!("{name} cannot run in the kernel's TCP: it {why}"))
    }

    /// Returns the parameters of an aggregate for changes. A new aggregate starts with the
    /// defaults.
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

    /// Makes `names` the aggregates, in this order. An aggregate without values gets the defaults.
    /// A family without such parameters is left unchanged.
    ///
    /// # Errors
    /// If an aggregate has values and is not among `names`. The error is its name.
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

    /// Returns the names of the aggregates with their parameters.
    pub fn aggregates(&self) -> impl ExactSizeIterator<Item = (&str, &Values)> {
        self.aggregates.iter().map(|(name, of)| (name.as_str(), of))
    }

    /// The family that these parameters belong to.
    pub fn family(&self) -> &'static Family {
        self.family
    }

    /// Sets one parameter from a value of a file.
    ///
    /// # Errors
    /// Fails if the name is unknown, or if the value is not of the parameter's kind or is out of
    /// its range.
    pub fn set(&mut self, name: &str, raw: &Raw) -> Result<(), Invalid> {
        let i = self.params.iter().position(|p| p.name == name).ok_or_else(|| {
            let known: Vec<_> = self.params.iter().map(|p| p.name).collect();
            let (family, known) = (self.family.name, known.join(", "));
            Invalid::from(format!("{family} has no parameter \"{name}\" (it has: {known})"))
        })?;
        let read = self.params[i].kind.read(raw);
        self.values[i] = read.map_err(|mut fault| {
            let mut former = self.family.former.iter();
            let is_it = |word: &str| matches!(raw, Raw::Text(text) if text == word);
            if let Some((_, word, now)) = former.find(|(of, word, _)| *of == name && is_it(word)) {
                fault.reason += &format!("; \"{word}\" was {now}");
            }
            fault.within(name)
        })?;
        Ok(())
    }

    /// Returns the value of a parameter.
    ///
    /// # Panics
    /// Panics if the family has no such parameter.
    pub fn get(&self, name: &str) -> Value {
        let i = self.params.iter().position(|p| p.name == name);
        let i = i.unwrap_or_else(|| panic!("{} has no parameter {name}", self.family.name));
        self.values[i]
    }

    /// Returns the effective value of a parameter: its own, or the value that the family
    /// substitutes for an absent one.
    ///
    /// # Panics
    /// As [`get`](Self::get).
    pub fn effective(&self, name: &str) -> Value {
        match self.get(name) {
            Value::Absent => (self.family.absent)(self, name),
            value => value,
        }
    }

    /// Returns the parameters with their values, in the order of the table.
    pub fn iter(&self) -> impl Iterator<Item = (&'static Param, Value)> + '_ {
        self.params.iter().zip(self.values.iter().copied())
    }

    getter!(
        /// Returns a number.
        number, number_opt, Number, f64
    );
    getter!(
        /// Returns a whole number.
        integer, integer_opt, Integer, u64
    );
    getter!(
        /// Returns a flag.
        flag, flag_opt, Flag, bool
    );
    getter!(
        /// Returns an amount in bytes or packets.
        size, size_opt, Size, Size
    );
    getter!(
        /// Returns a span of time.
        duration, duration_opt, Duration, Duration
    );
    getter!(
        /// Returns a rate.
        rate, rate_opt, Rate, Rate
    );
    getter!(
        /// Returns a word of the parameter's choice.
        choice, choice_opt, Choice, &'static str
    );
}
