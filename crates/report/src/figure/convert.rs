//! PDF and PNG of figures, with the cargo feature `figures`. They take as long to compile as a third of the
//! program, so only packages include them.

use super::FigureError;

#[cfg(not(feature = "figures"))]
mod writer {
    use super::FigureError;

    fn without(format: &str) -> FigureError {
        FigureError::Unable(format!(
            "this program was built without {format}: build it with `cargo build --release \
             --features figures`, or write SVG, which Inkscape and rsvg-convert turn into {format}"
        ))
    }

    pub fn pdf(_: &str) -> Result<Vec<u8>, FigureError> {
        Err(without("PDF"))
    }

    pub fn png(_: &str) -> Result<Vec<u8>, FigureError> {
        Err(without("PNG"))
    }
}

#[cfg(feature = "figures")]
mod writer {
    use super::FigureError;
    use resvg::{tiny_skia, usvg};
    use std::sync::Arc;

    /// The dots per inch of a PNG.
    const DOTS: f32 = 300.0;

    fn parse(svg: &str) -> Result<usvg::Tree, FigureError> {
        let mut options = usvg::Options::default();
        let fonts = Arc::make_mut(&mut options.fontdb);
        fonts.load_system_fonts();
        let Some(first) = fonts.faces().find_map(|f| Some(f.families.first()?.0.clone())) else {
            let why = "there are no fonts on this machine; install one, such as fonts-liberation, \
                       or write SVG";
            return Err(FigureError::Unable(why.into()));
        };
        // The usual substitutes for Helvetica, and then any font.
        let known = ["Helvetica", "Arial", "Liberation Sans", "Nimbus Sans", "DejaVu Sans"];
        let has = |name: &&&str| {
            let mut names = fonts.faces().flat_map(|f| &f.families);
            names.any(|(own, _)| own == *name)
        };
        let family = known.iter().find(has).map_or(first, ToString::to_string);
        fonts.set_sans_serif_family(family);
        usvg::Tree::from_str(svg, &options)
            .map_err(|e| FigureError::Unable(format!("the figure cannot be converted: {e}")))
    }

    pub fn pdf(svg: &str) -> Result<Vec<u8>, FigureError> {
        let page = svg2pdf::PageOptions { dpi: 96.0 };
        svg2pdf::to_pdf(&parse(svg)?, svg2pdf::ConversionOptions::default(), page)
            .map_err(|e| FigureError::Unable(format!("the figure cannot be converted: {e}")))
    }

    pub fn png(svg: &str) -> Result<Vec<u8>, FigureError> {
        let tree = parse(svg)?;
        let scale = DOTS / 96.0;
        let size = tree.size().to_int_size().scale_by(scale);
        let image = size.and_then(|s| tiny_skia::Pixmap::new(s.width(), s.height()));
        let failed = || FigureError::Unable("the figure is too large for an image".into());
        let mut image = image.ok_or_else(failed)?;
        image.fill(tiny_skia::Color::WHITE);
        let place = tiny_skia::Transform::from_scale(scale, scale);
        resvg::render(&tree, place, &mut image.as_mut());
        image.encode_png().map_err(|_| failed())
    }
}

pub use writer::{pdf, png};
