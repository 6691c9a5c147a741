//! An engine's notes on its model.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;

/// Notes on the effects that a model leaves out: one per effect, the largest first.
#[derive(Clone, Debug, Default)]
pub struct Notes {
    effects: BTreeMap<String, Effect>,
}

#[derive(Clone, Debug)]
struct Effect {
    size: f64,
    /// The number of effects noted before this one.
    order: usize,
    text: String,
    /// The flows, the link or the wire that the text concerns. It is empty for the whole network.
    subject: String,
    /// The other texts on this subject.
    others: usize,
    /// The other subjects with this effect, in the order of their addition.
    also: Vec<String>,
}

impl Effect {
    /// Takes another text. The one with the largest size stays.
    fn take(&mut self, new: Effect) {
        if self.text == new.text {
            return;
        }
        let (same, more) = (self.subject == new.subject, new.size > self.size);
        if same {
            self.others += 1;
        } else if more {
            self.also.retain(|s| *s != new.subject);
            self.also.insert(0, std::mem::replace(&mut self.subject, new.subject));
            self.others = 0;
        } else if !self.also.contains(&new.subject) {
            self.also.push(new.subject);
        }
        if more {
            (self.size, self.text) = (new.size, new.text);
        }
    }

    /// The note: "b keeps 3 KB queued (also: c, d)".
    fn note(&self, engine: &str) -> String {
        let mut note = format!("{engine}: {}", self.text);
        if self.others > 0 {
            let times = match self.others {
                1 => "once".into(),
                n => format!("{n} times"),
            };
            note += &format!(" (and {times} more, by less)");
        }
        if !self.also.is_empty() {
            let shown =
                if self.also.len() <= MOST_SUBJECTS + 1 { self.also.len() } else { MOST_SUBJECTS };
            note += &format!(" (also: {}", self.also[..shown].join(", "));
            if self.also.len() > shown {
                note += &format!(" and {} more", self.also.len() - shown);
            }
            note.push(')');
        }
        note
    }
}

/// The other subjects of an effect that a note names.
const MOST_SUBJECTS: usize = 4;

impl Notes {
    /// Adds a note on an effect in the whole network. The size is the fraction by which the effect
    /// may change a rate, a queue or a delay: 0.05 for 5 %. It is infinite if there are no values.
    pub fn add(&mut self, effect: impl Into<String>, size: f64, text: impl Into<String>) {
        self.add_of(effect, "", size, text);
    }

    /// Adds a note on an effect at a subject: flows, a link or a wire. Of several texts on one
    /// effect, such as those of several phases or flows, the one with the largest size stays, with
    /// the names of the other subjects.
    pub fn add_of(
        &mut self,
        effect: impl Into<String>,
        subject: &str,
        size: f64,
        text: impl Into<String>,
    ) {
        let size = if size.is_nan() { 0.0 } else { size };
        let (order, subject, text) = (self.effects.len(), subject.to_string(), text.into());
        let new = Effect { size, order, text, subject, others: 0, also: Vec::new() };
        match self.effects.entry(effect.into()) {
            Entry::Vacant(entry) => drop(entry.insert(new)),
            Entry::Occupied(mut entry) => entry.get_mut().take(new),
        }
    }

    /// Returns the notes, the largest first, and those of equal size in the order of their
    /// addition.
    pub fn finish(self, engine: &str) -> Vec<String> {
        let mut effects: Vec<Effect> = self.effects.into_values().collect();
        effects.sort_by(|a, b| b.size.total_cmp(&a.size).then(a.order.cmp(&b.order)));
        effects.iter().map(|effect| effect.note(engine)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_effect_is_told_once_and_the_largest_first() {
        let mut notes = Notes::default();
        notes.add("a", 0.1, "a is small");
        notes.add("b", 0.2, "b is less here");
        notes.add("b", 0.5, "b is more here");
        notes.add("b", 0.2, "b is less here");
        notes.add("c", f64::INFINITY, "there is nothing");
        let expected = [
            "e: there is nothing",
            "e: b is more here (and 2 times more, by less)",
            "e: a is small",
        ];
        assert_eq!(notes.finish("e"), expected);
    }

    #[test]
    fn an_effect_at_several_flows_is_one_note() {
        let mut notes = Notes::default();
        notes.add_of("packets", "near", 0.1, "near is coarse");
        notes.add_of("packets", "far", 0.1, "far is coarse");
        notes.add_of("packets", "short", 0.3, "short is coarser");
        notes.add_of("packets", "far", 0.2, "far is coarse later");
        notes.add_of("waits", "far", 0.1, "far waits");
        let expected = ["e: short is coarser (also: near, far)", "e: far waits"];
        assert_eq!(notes.finish("e"), expected);
        let mut notes = Notes::default();
        (0..20).for_each(|i| notes.add_of("packets", &format!("f{i}"), 0.1, format!("f{i} is")));
        assert_eq!(notes.finish("e"), ["e: f0 is (also: f1, f2, f3, f4 and 15 more)"]);
    }
}
