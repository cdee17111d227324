//! Recomputes the contrast of every pair of colours that the page uses, from the style sheet itself, and checks each
//! pair against the requirement of WCAG 2. The gallery shows the same numbers.

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

#[test]
fn contrast_ratio_matches_specification() {
    assert!((contrast([0, 0, 0], [255, 255, 255]) - 21.0).abs() < 1e-9);
    let colour = |name| find_colour_token(name).unwrap();
    // These two values come from the table of the design.
    assert!((contrast(colour("text").light, colour("bg").light) - 15.82).abs() < 0.01);
    assert!((contrast(colour("text3").dark, colour("user-bubble").dark) - 4.76).abs() < 0.01);
}
