//! The laboratory in one file.

/// The page. The server and the file have the same one.
pub static PAGE: &str = include_str!("../web/dist/lab.html");

/// The place of the module in the page. Without a module the page asks its server.
const PLACE: &str = "<script type=\"application/octet-stream\" id=\"module\"></script>";

/// The place of the gallery. The page shows its first lesson while the module is compiled.
const ENTRIES: &str = "<script type=\"application/json\" id=\"entries\"></script>";

/// The place of the licences of the module's packages.
const LICENCES: &str = "<pre id=\"licences\"></pre>";

/// The files that `tools/web/build` makes: the module with the engines, compressed, and the licences of its packages.
#[cfg(feature = "web")]
const MODULE: Option<(&[u8], &str)> = Some((
    include_bytes!(concat!(env!("ACCORD_MODULE"), "/accord.wasm.gz")),
    include_str!(concat!(env!("ACCORD_MODULE"), "/licences.txt")),
));
#[cfg(not(feature = "web"))]
const MODULE: Option<(&[u8], &str)> = None;

/// Returns the page with the engines in it, or `None` if this build does not have them.
pub fn saved() -> Option<String> {
    use base64::prelude::*;
    let (module, licences) = MODULE?;
    let licences = licences.replace('&', "&amp;").replace('<', "&lt;");
    let page = fill(PAGE, LICENCES, &licences);
    let entries = crate::gallery::gallery().to_string().replace("</", "<\\/");
    let page = fill(&page, ENTRIES, &entries);
    Some(fill(&page, PLACE, &BASE64_STANDARD.encode(module)))
}

/// Puts a text into an empty element.
fn fill(page: &str, place: &str, text: &str) -> String {
    page.replacen(place, &place.replace("></", &format!(">{text}</")), 1)
}
