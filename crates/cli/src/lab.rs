//! `accord lab`.

use crate::args::Lab;
#[cfg(feature = "lab")]
use crate::args::LabCommand;
use crate::fail::Failure;
use accord::Catalogue;
#[cfg(feature = "lab")]
use std::path::Path;

/// Serves the laboratory until it is interrupted.
#[cfg(feature = "lab")]
pub fn run(args: Lab, catalogue: &Catalogue) -> Result<bool, Failure> {
    use crate::output::{data, note};
    use crate::progress::interrupted;

    if let Some(LabCommand::Grade { folder, csv }) = &args.command {
        return grade(folder, csv.as_deref(), catalogue);
    }
    if let Some(path) = &args.save {
        return save(path);
    }
    if let Some(file) = &args.file
        && let Err(e) = std::fs::metadata(file)
    {
        let message = format!("{} cannot be opened: {e}", file.display());
        return Err(Failure::io(message, &e).hint("accord new creates a scenario file"));
    }
    let settings = accord_lab::Settings {
        file: args.file,
        port: args.port,
        ..accord_lab::Settings::new(*catalogue)
    };
    let opened = accord_lab::Lab::open(settings);
    let failed = |e: std::io::Error| Failure::Unable(format!("the laboratory cannot open: {e}"));
    let lab = opened.map_err(failed)?;
    data(lab.url())?;
    note("open this address in a browser; Ctrl-C ends the laboratory");
    lab.serve(interrupted).map_err(failed)?;
    Ok(true)
}

/// Grades the work that students handed in.
#[cfg(feature = "lab")]
fn grade(folder: &Path, csv: Option<&Path>, catalogue: &Catalogue) -> Result<bool, Failure> {
    use crate::output::{data, note};

    let class = accord_lab::Class::grade(folder, catalogue).map_err(|e| {
        let message = format!("{} cannot be read: {e}", folder.display());
        Failure::io(message, &e).hint("give the folder with the files that students handed in")
    })?;
    if let Some(path) = csv {
        accord::files::write(path, class.csv().as_bytes())
            .map_err(crate::fail::unwritable(path))?;
    }
    for refused in &class.refused {
        note(format!("not graded: {refused}"));
    }
    if class.students.is_empty() {
        let message = format!("{} has no line that a student handed in", folder.display());
        return Err(Failure::new(message).hint("the laboratory's button Hand in saves one"));
    }
    data(class.text())?;
    if let Some(path) = csv {
        note(format!("written: {}", path.display()));
    }
    Ok(true)
}

/// Writes the laboratory as one file.
#[cfg(feature = "lab")]
fn save(path: &Path) -> Result<bool, Failure> {
    let page = accord_lab::saved().ok_or_else(|| {
        Failure::Unable(
            "this build does not carry the engines for browsers; tools/web/build in the sources makes them, and \
             ACCORD_MODULE=$PWD/target/web cargo build --release --features web includes them"
                .into(),
        )
    })?;
    accord::files::write(path, page.as_bytes()).map_err(crate::fail::unwritable(path))?;
    crate::output::note(format!("written: {}; open it in a browser", path.display()));
    Ok(true)
}

/// Returns the error that explains how to build the program with the laboratory.
#[cfg(not(feature = "lab"))]
pub fn run(_: Lab, _: &Catalogue) -> Result<bool, Failure> {
    Err(Failure::Unable(
        "this build has no laboratory; cargo run --release --features lab -- lab includes it"
            .into(),
    ))
}
