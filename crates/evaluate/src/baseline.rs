//! The comparison with an earlier evaluation of the same packs.

use crate::evaluation::{Compared, Evaluation, Finding, Pair, Sample, compare};
use crate::tidy::Baseline;
use accord::report::show;

/// The result of the comparison.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Changes {
    /// Every measure that both have.
    pub all: Vec<Compared>,
    /// Measures that only the new evaluation has, or only the earlier one, of its cases.
    pub unmatched: usize,
}

impl Changes {
    /// Compares an evaluation with an earlier one, as one family of tests.
    pub fn since(baseline: &Baseline, evaluation: &Evaluation) -> Changes {
        let mut pairs: Vec<Pair> = evaluation.pairs(|row| (Sample::default(), row.sample(0)));
        for pair in &mut pairs {
            let known = baseline.values.get(&pair.key);
            pair.before = known.cloned().unwrap_or_default();
        }
        let known = |pair: &Pair| baseline.values.contains_key(&pair.key);
        let before = baseline.values.len();
        let matched = pairs.iter().filter(|pair| known(pair)).count();
        let unmatched = (pairs.len() - matched) + (before - matched);
        pairs.retain(known);
        Changes { all: compare(&pairs), unmatched }
    }

    /// Returns the regressions: measures that are significantly worse, or have lost values.
    pub fn regressions(&self) -> impl Iterator<Item = &Compared> {
        self.all.iter().filter(|c| is_regression(c))
    }

    /// Returns the measures that are significantly better.
    pub fn improvements(&self) -> impl Iterator<Item = &Compared> {
        self.all.iter().filter(|c| c.finding == Finding::Better)
    }
}

/// Returns whether a comparison is a regression.
pub fn is_regression(compared: &Compared) -> bool {
    compared.finding == Finding::Worse || compared.has_lost()
}

/// Returns a comparison in one line: scenario, measure, and by how much it moved.
pub fn sentence(compared: &Compared) -> String {
    let (key, unit) = (&compared.key, compared.unit);
    let (before, after) = match (compared.before, compared.after) {
        (None, _) => return format!("{key}: not compared, since the baseline has no value"),
        (_, None) if compared.has_lost() => {
            return format!("{key}: it had a value, and has none now");
        }
        (_, None) => return format!("{key}: not compared, since it has no measurement now"),
        (Some(before), Some(after)) if compared.has_lost() => {
            let [was, is] = compared.without;
            let (all, now) = (before.runs + was, after.runs + is);
            return format!("{key}: no value in {is} of {now} runs, and in {was} of {all} before");
        }
        (Some(before), Some(after)) => (before, after),
    };
    let Some((change, half)) = compared.change else {
        return format!("{key}: not compared");
    };
    let text = |v: f64| {
        let (sign, size) = (if v < 0.0 { "-" } else { "+" }, show::quantity(v.abs(), unit));
        // A difference of shares is not a share of one of them.
        match size.strip_suffix(" %") {
            Some(points) => format!("{sign}{points} points"),
            None => format!("{sign}{size}"),
        }
    };
    let relative = if before.mean != 0.0 {
        format!(" ({})", show::error(change / before.mean.abs()))
    } else {
        String::new()
    };
    let sure = match (half, compared.p) {
        (Some(half), Some(p)) => format!(
            ", 95 % interval {} to {}, p = {}",
            text(change - half),
            text(change + half),
            probability(p)
        ),
        _ => ", and neither varies from run to run".into(),
    };
    format!(
        "{key}: {} → {}, {}{relative}{sure}",
        show::quantity(before.mean, unit),
        show::quantity(after.mean, unit),
        text(change)
    )
}

fn probability(p: f64) -> String {
    match p {
        p if p < 1e-4 => "below 0.0001".into(),
        p => format!("{p:.4}"),
    }
}
