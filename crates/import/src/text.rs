//! The text of files: encodings, and numbers that JSON lacks.

use std::borrow::Cow;

/// Returns the text of a file in UTF-8 or, by its byte-order mark, in UTF-16; or in Latin-1 if XML
/// declares that. Returns `None` for other encodings.
pub fn decoded(bytes: &[u8]) -> Option<Cow<'_, str>> {
    if let Some(text) = utf_16(bytes) {
        return Some(text.into());
    }
    if let Ok(text) = std::str::from_utf8(bytes) {
        return Some(text.into());
    }
    let head = String::from_utf8_lossy(&bytes[..bytes.len().min(200)]).to_lowercase();
    let latin = ["\"iso-8859-1\"", "'iso-8859-1'"];
    let declared = head.starts_with("<?xml") && latin.iter().any(|name| head.contains(name));
    declared.then(|| bytes.iter().map(|b| char::from(*b)).collect())
}

/// Returns the text of a file, with a mark for each invalid byte.
pub fn decoded_in_part(bytes: &[u8]) -> Cow<'_, str> {
    utf_16(bytes).map_or_else(|| String::from_utf8_lossy(bytes), Cow::from)
}

fn utf_16(bytes: &[u8]) -> Option<String> {
    let unit: fn([u8; 2]) -> u16 = match bytes {
        [0xff, 0xfe, ..] => u16::from_le_bytes,
        [0xfe, 0xff, ..] => u16::from_be_bytes,
        _ => return None,
    };
    let units: Vec<u16> = (bytes[2..].as_chunks().0.iter()).map(|pair| unit(*pair)).collect();
    Some(String::from_utf16_lossy(&units))
}

/// Replaces the numbers NaN and infinity, which C and Python write, by null.
pub(crate) fn numbers(text: &str) -> Cow<'_, str> {
    const WORDS: [&str; 10] =
        ["-nan", "nan", "-inf", "inf", "-NaN", "NaN", "-Infinity", "Infinity", "-Inf", "Inf"];
    if !["nan", "NaN", "inf", "Inf"].iter().any(|word| text.contains(word)) {
        return text.into();
    }
    let mut whole = String::new();
    let (mut copied, mut quoted, mut escaped) = (0, false, false);
    // True at the beginning of a value outside texts.
    let mut value = true;
    for (at, c) in text.char_indices() {
        match c {
            _ if escaped => escaped = false,
            '\\' if quoted => escaped = true,
            '"' => quoted = !quoted,
            _ if quoted || c.is_ascii_whitespace() => {}
            ':' | ',' | '[' => value = true,
            '-' | 'n' | 'N' | 'i' | 'I' if value => {
                value = false;
                let rest = &text[at..];
                let ends = |word: &&str| {
                    let next = rest[word.len()..].chars().next();
                    next.is_none_or(|c| !c.is_ascii_alphanumeric())
                };
                let mut words = WORDS.iter().filter(|word| rest.starts_with(**word));
                if let Some(word) = words.find(|word| ends(word)) {
                    whole += &text[copied..at];
                    whole += "null";
                    copied = at + word.len();
                }
            }
            _ => value = false,
        }
    }
    match copied {
        0 => text.into(),
        _ => (whole + &text[copied..]).into(),
    }
}

#[cfg(test)]
mod tests {
    use super::{decoded, decoded_in_part, numbers};

    #[test]
    fn encodings() {
        let wide = |text: &str, bytes: fn(u16) -> [u8; 2]| -> Vec<u8> {
            ("\u{feff}".to_owned() + text).encode_utf16().flat_map(bytes).collect()
        };
        for bytes in [u16::to_le_bytes, u16::to_be_bytes] {
            assert_eq!(decoded(&wide("{é}", bytes)).as_deref(), Some("{é}"));
        }
        assert_eq!(decoded("é".as_bytes()).as_deref(), Some("é"));
        assert_eq!(decoded(b"\xe9"), None);
        assert_eq!(decoded_in_part(b"a\xe9"), "a\u{fffd}");
        let xml = b"<?xml version=\"1.0\" encoding=\"ISO-8859-1\"?><a>\xe9</a>";
        assert!(decoded(xml).is_some_and(|text| text.ends_with("<a>é</a>")));
    }

    #[test]
    fn numbers_that_are_none() {
        let text = r#"{"nan": -nan, "a": [NaN,inf , -Infinity], "b": "x: nan", "c": null}"#;
        let same = r#"{"nan": null, "a": [null,null , null], "b": "x: nan", "c": null}"#;
        assert_eq!(numbers(text), same);
        assert_eq!(numbers("[1, nano]"), "[1, nano]");
    }
}
