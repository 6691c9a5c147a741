//! The catalogue of the controllers and queue disciplines that come with Accord.

use accord_family::{Catalogue, Family, Role};

/// Returns the controllers and queue disciplines that come with Accord.
pub fn catalogue() -> Catalogue {
    let catalogue =
        Catalogue { controllers: accord_control::FAMILIES, disciplines: accord_aqm::FAMILIES };
    catalogue.declare();
    catalogue
}

/// Returns the controllers and queue disciplines that come with Accord, together with the given
/// ones. They are kept until the program ends.
///
/// # Panics
/// Panics if two families have the same name, if one has no maker of its kind, or if one has defaults that
/// its own table rejects. These are the author's errors, and are detected before anything runs.
pub fn catalogue_with(
    controllers: &[&'static Family],
    disciplines: &[&'static Family],
) -> Catalogue {
    let all = |own: &[&'static Family], more: &[&'static Family]| {
        let all: &'static [_] = [own, more].concat().leak();
        for (i, family) in all.iter().enumerate() {
            let twin = all[..i].iter().any(|other| other.name == family.name);
            assert!(!twin, "there are two families called {}", family.name);
            let sound = (family.check)(&family.defaults());
            assert!(sound.is_ok(), "the defaults of {}: {sound:?}", family.name);
        }
        all
    };
    let own = catalogue();
    let catalogue = Catalogue {
        controllers: all(own.controllers, controllers),
        disciplines: all(own.disciplines, disciplines),
    };
    for family in catalogue.controllers {
        let role = matches!(family.role, Role::Controller(_) | Role::Tunnel(_));
        assert!(role, "{} is not a controller", family.name);
        accord_control::Maker::of(family);
    }
    for family in catalogue.disciplines {
        let role = matches!(family.role, Role::Queue(_));
        assert!(role, "{} is not a queue discipline", family.name);
        accord_aqm::Maker::of(family);
    }
    catalogue.declare();
    catalogue
}
