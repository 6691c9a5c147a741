//! Notes of an engine on its model.

use std::collections::BTreeMap;

/// Notes on the effects that a model leaves out: one per effect, the largest first.
#[derive(Clone, Debug, Default)]
pub struct Notes {
    effects: BTreeMap<String, Effect>,
}

#[derive(Clone, Debug)]
struct Effect {
    size: f64,
    /// The number of effects that were there before.
    order: usize,
    text: String,
    /// The other texts on this effect.
    others: usize,
}

impl Notes {
    /// Adds a note on an effect, or counts it if the same text is there. Of several texts on one
    /// effect, such as those of several phases, the one with the largest size stays. The size is the
    /// part by which the effect may change a rate, a queue or a delay: 0.05 for 5 %. It is infinite
    /// where there are no values.
    pub fn add(&mut self, effect: impl Into<String>, size: f64, text: impl Into<String>) {
        let (order, text) = (self.effects.len(), text.into());
        let size = if size.is_nan() { 0.0 } else { size };
        let new = Effect { size, order, text, others: 0 };
        let effect = self.effects.entry(effect.into()).or_insert_with(|| new.clone());
        if effect.text != new.text {
            effect.others += 1;
            if new.size > effect.size {
                (effect.size, effect.text) = (new.size, new.text);
            }
        }
    }

    /// Returns the notes, the largest first, and those of one size in the order of their coming.
    pub fn finish(self, engine: &str) -> Vec<String> {
        let mut effects: Vec<Effect> = self.effects.into_values().collect();
        effects.sort_by(|a, b| b.size.total_cmp(&a.size).then(a.order.cmp(&b.order)));
        let text = |effect: Effect| match effect.others {
            0 => format!("{engine}: {}", effect.text),
            n => format!("{engine}: {} (and {n} times more, by less)", effect.text),
        };
        effects.into_iter().map(text).collect()
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
}
