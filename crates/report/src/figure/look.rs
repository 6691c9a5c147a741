//! The looks of the subjects of a figure: colours, and shades of them if two properties differ.

use super::FigureError;
use plotters::style::RGBColor;
use std::collections::BTreeSet;

/// The number of distinct colours.
pub const MOST: usize = 8;
/// The number of distinct shades of a colour, and of shapes of marks.
pub const SHADES: usize = 6;

/// The look of a subject.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Look {
    /// The number of its colour.
    pub hue: usize,
    /// The number of its shade, and the number of shades of its colour.
    pub shade: (usize, usize),
}

impl Look {
    /// The look of the n-th subject if only one property differs.
    pub const fn plain(n: usize) -> Look {
        Look { hue: n, shade: (0, 1) }
    }

    /// The number of the shape of its marks.
    pub const fn shape(self) -> usize {
        if self.shade.1 > 1 { self.shade.0 } else { self.hue }
    }

    /// Returns the subject's colour, given the full colour of its hue. The first shade is full.
    pub fn shaded(self, full: RGBColor) -> RGBColor {
        let (i, n) = self.shade;
        let part = 1.0 - 0.65 * i as f64 / (n.max(2) - 1) as f64;
        let mix = |c: u8| (255.0 - part * (255.0 - f64::from(c))).round() as u8;
        RGBColor(mix(full.0), mix(full.1), mix(full.2))
    }
}

/// Returns the looks of subjects by their parts. Each subject has the values of the same properties in the
/// same order. If exactly two properties differ, one determines the colour and the other the shade. If one of
/// them is a quantity, it determines the shade.
///
/// # Errors
/// Fails if there are more subjects than distinct looks. `names` are for the message.
pub fn looks(parts: &[Vec<String>], names: &[String]) -> Result<Vec<Look>, FigureError> {
    let width = parts.iter().map(Vec::len).min().unwrap_or(0);
    let values = |i: usize| -> Vec<&str> {
        let mut seen = BTreeSet::new();
        let all = parts.iter().map(|p| p[i].as_str());
        all.filter(|value| seen.insert(*value)).collect()
    };
    let differing: Vec<usize> = (0..width).filter(|&i| values(i).len() > 1).collect();
    if let [a, b] = differing[..] {
        let quantity =
            |i: &usize| values(*i).iter().all(|v| v.starts_with(|c: char| c.is_ascii_digit()));
        let rank = |i: &usize| (quantity(i), values(*i).len() <= SHADES, values(*i).len());
        let (hue, shade) = if rank(&a) > rank(&b) { (b, a) } else { (a, b) };
        let (hues, shades) = (values(hue), values(shade));
        if hues.len() <= MOST && shades.len() <= SHADES && parts.len() > hues.len() {
            let place = |of: &[&str], value: &str| of.iter().position(|v| *v == value);
            let look = |p: &Vec<String>| Look {
                hue: place(&hues, &p[hue]).unwrap_or(0),
                shade: (place(&shades, &p[shade]).unwrap_or(0), shades.len()),
            };
            return Ok(parts.iter().map(look).collect());
        }
    }
    if parts.len() <= MOST {
        return Ok((0..parts.len()).map(Look::plain).collect());
    }
    let some: Vec<&str> = names.iter().take(3).map(String::as_str).collect();
    Err(FigureError::wrong(
        format!("{} lines per engine are more than the {MOST} distinct colours", parts.len()),
        format!(
            "name some with --of, or the directories of some points of a sweep; there are {}, ...",
            some.join("; ")
        ),
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(parts: &[[&str; 2]]) -> Vec<(usize, usize)> {
        let parts: Vec<Vec<String>> =
            parts.iter().map(|p| p.iter().map(|v| v.to_string()).collect()).collect();
        let looks = looks(&parts, &[]).expect("few enough");
        looks.iter().map(|look| (look.hue, look.shade.0)).collect()
    }

    #[test]
    fn two_things_have_colours_and_shades() {
        let all = [["cubic", "1 BDP"], ["cubic", "4 BDP"], ["bbr3", "1 BDP"], ["bbr3", "4 BDP"]];
        assert_eq!(found(&all), [(0, 0), (0, 1), (1, 0), (1, 1)]);
        // A quantity determines the shade in any position.
        let turned = all.map(|[a, b]| [b, a]);
        assert_eq!(found(&turned), [(0, 0), (0, 1), (1, 0), (1, 1)]);
        // A single property that differs determines the colour.
        assert_eq!(found(&[["a", "x"], ["b", "x"]]), [(0, 0), (1, 0)]);
        // Two properties that vary together count as one.
        assert_eq!(found(&[["a", "1"], ["b", "2"]]), [(0, 0), (1, 0)]);
    }

    #[test]
    fn more_than_can_be_told_apart_are_refused() {
        let parts: Vec<Vec<String>> = (0..9).map(|i| vec![i.to_string()]).collect();
        assert!(looks(&parts, &["a".into()]).is_err());
    }
}
