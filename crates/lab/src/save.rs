//! The laboratory in one file.

/// The page. The server and the file have the same one.
pub const PAGE: &str = include_str!("../web/dist/lab.html");

/// The place of the module in the page. Without a module the page asks its server.
const PLACE: &str = "<script type=\"application/octet-stream\" id=\"module\"></script>";

/// The module with the engines, compressed, which `tools/web/build` makes.
#[cfg(feature = "web")]
const MODULE: Option<&[u8]> = Some(include_bytes!(env!("ACCORD_MODULE")));
#[cfg(not(feature = "web"))]
const MODULE: Option<&[u8]> = None;

/// Returns the page with the engines in it, or `None` if this build does not have them.
pub fn saved() -> Option<String> {
    use base64::prelude::*;
    let module = BASE64_STANDARD.encode(MODULE?);
    let filled = PLACE.replace("></", &format!(">{module}</"));
    Some(PAGE.replacen(PLACE, &filled, 1))
}
