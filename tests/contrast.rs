//! Recomputes the contrast of every pair of colours that the page uses, from the style sheet itself, and checks each
//! pair against the requirement of WCAG 2. The gallery shows the same numbers.

use std::collections::BTreeSet;
use std::path::Path;

use turnleaf::server::gallery::colours::{CONTRAST_PAIRS, contrast, find_colour_token};

#[test]
fn every_color_pair_has_required_contrast_in_both_themes() {
    let mut short = Vec::new();
    for (mark, ground, needs) in CONTRAST_PAIRS {
        let (mark_colours, ground_colours) = (find_colour_token(mark).unwrap(), find_colour_token(ground).unwrap());
        for (theme, has) in [
            ("light", contrast(mark_colours.light, ground_colours.light)),
            ("dark", contrast(mark_colours.dark, ground_colours.dark)),
        ] {
            if has < needs {
                short.push(format!("{mark} on {ground}, {theme}: {has:.2}, needs {needs}"));
            }
        }
    }
    assert!(short.is_empty(), "{short:#?}");
}

/// A misspelt property is no error in CSS: the declaration silently does nothing.
#[test]
fn every_custom_property_is_defined() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let texts = |folder: &str, extension: &str| -> Vec<String> {
        let mut folders = vec![root.join(folder)];
        let mut texts = Vec::new();
        while let Some(folder) = folders.pop() {
            for entry in std::fs::read_dir(folder).unwrap() {
                let path = entry.unwrap().path();
                match path.is_dir() {
                    true => folders.push(path),
                    false if path.extension().is_some_and(|own| own == extension) => {
                        texts.push(std::fs::read_to_string(path).unwrap());
                    }
                    false => {}
                }
            }
        }
        texts
    };
    let sheets = texts("style", "css");
    let mut undefined = BTreeSet::new();
    for sheet in &sheets {
        for (at, start) in sheet.match_indices("var(--") {
            let name: String = sheet[at + start.len() - 2..].chars().take_while(|c| !",) ".contains(*c)).collect();
            let has_fallback = sheet[at..].split(')').next().is_some_and(|value| value.contains(','));
            let definition = format!("{name}:");
            if !has_fallback && !sheets.iter().any(|sheet| sheet.contains(&definition)) {
                undefined.insert(name);
            }
        }
    }
    // Scripts set the others.
    let code = texts("src", "rs");
    undefined.retain(|name| !code.iter().any(|text| text.contains(name.as_str())));
    assert!(undefined.is_empty(), "{undefined:?}");
}

#[test]
fn contrast_ratio_matches_specification() {
    assert!((contrast([0, 0, 0], [255, 255, 255]) - 21.0).abs() < 1e-9);
    let colour = |name| find_colour_token(name).unwrap();
    // These two values come from the table of the design.
    assert!((contrast(colour("text").light, colour("bg").light) - 15.82).abs() < 0.01);
    assert!((contrast(colour("text3").dark, colour("user-bubble").dark) - 4.76).abs() < 0.01);
}
