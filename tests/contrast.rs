//! Recomputes the contrast of every pair of colours that the page uses, from the style sheet itself, and holds each to
//! what WCAG 2 asks: 4.5 for text, 3 for a mark that carries meaning.

use std::collections::HashMap;

const TOKENS: &str = include_str!("../style/tokens.css");

/// Foreground, ground, and the ratio needed.
const PAIRS: [(&str, &str, f64); 34] = [
    ("text", "bg", 4.5),
    ("text", "surface", 4.5),
    ("text", "sunken", 4.5),
    ("text", "user-bubble", 4.5),
    ("text", "code-bg", 4.5),
    ("text2", "bg", 4.5),
    ("text2", "surface", 4.5),
    ("text2", "sunken", 4.5),
    ("text3", "bg", 4.5),
    ("text3", "surface", 4.5),
    ("text3", "sunken", 4.5),
    ("text3", "user-bubble", 4.5),
    ("link", "bg", 4.5),
    ("link", "surface", 4.5),
    ("link", "user-bubble", 4.5),
    ("on-accent", "accent", 4.5),
    ("on-accent", "accent-hover", 4.5),
    ("danger", "bg", 4.5),
    ("danger", "danger-bg", 4.5),
    ("danger", "surface", 4.5),
    ("on-danger", "danger", 4.5),
    ("warn", "warn-bg", 4.5),
    ("ok", "ok-bg", 4.5),
    ("reason", "reason-bg", 4.5),
    ("text2", "reason-bg", 4.5),
    ("tool", "tool-bg", 4.5),
    ("text2", "tool-bg", 4.5),
    // The stop button is the text's colour with the page's on it.
    ("bg", "text", 4.5),
    ("border-strong", "surface", 3.0),
    ("border-strong", "bg", 3.0),
    ("border-strong", "sunken", 3.0),
    ("focus", "bg", 3.0),
    ("focus", "surface", 3.0),
    ("focus", "user-bubble", 3.0),
];

type Rgb = [u8; 3];

/// The tokens that are declared as `--name: light-dark(#rrggbb, #rrggbb);`, as (light, dark).
fn colours() -> HashMap<&'static str, (Rgb, Rgb)> {
    TOKENS
        .lines()
        .filter_map(|line| {
            let (name, value) = line.trim().strip_prefix("--")?.split_once(": light-dark(")?;
            let (light, dark) = value.strip_suffix(");")?.split_once(", ")?;
            Some((name, (hex(light)?, hex(dark)?)))
        })
        .collect()
}

fn hex(text: &str) -> Option<Rgb> {
    let digits = text.strip_prefix('#').filter(|digits| digits.len() == 6)?;
    let part = |at: usize| u8::from_str_radix(&digits[at..at + 2], 16).ok();
    Some([part(0)?, part(2)?, part(4)?])
}

/// WCAG 2 relative luminance.
fn luminance(colour: Rgb) -> f64 {
    let linear = |channel: u8| {
        let c = f64::from(channel) / 255.0;
        if c <= 0.04045 { c / 12.92 } else { ((c + 0.055) / 1.055).powf(2.4) }
    };
    let [r, g, b] = colour.map(linear);
    0.2126 * r + 0.7152 * g + 0.0722 * b
}

fn contrast(a: Rgb, b: Rgb) -> f64 {
    let (a, b) = (luminance(a), luminance(b));
    (a.max(b) + 0.05) / (a.min(b) + 0.05)
}

#[test]
fn every_pair_of_colours_has_the_contrast_it_needs_in_both_themes() {
    let colours = colours();
    let mut short = Vec::new();
    for (mark, ground, needs) in PAIRS {
        let (mark_colours, ground_colours) = (colours[mark], colours[ground]);
        for (theme, has) in [
            ("light", contrast(mark_colours.0, ground_colours.0)),
            ("dark", contrast(mark_colours.1, ground_colours.1)),
        ] {
            if has < needs {
                short.push(format!("{mark} on {ground}, {theme}: {has:.2}, needs {needs}"));
            }
        }
    }
    assert!(short.is_empty(), "{short:#?}");
}

#[test]
fn the_ratio_is_the_one_of_the_specification() {
    assert!((contrast([0, 0, 0], [255, 255, 255]) - 21.0).abs() < 1e-9);
    let colours = colours();
    // Two values of the design's own table.
    assert!((contrast(colours["text"].0, colours["bg"].0) - 15.82).abs() < 0.01);
    assert!((contrast(colours["text3"].1, colours["user-bubble"].1) - 4.76).abs() < 0.01);
}
