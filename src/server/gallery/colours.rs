//! Colours parsed from the style sheet, and the contrast of every pair that the page uses: 4.5 for text, 3 for a mark
//! that carries meaning (WCAG 2).

const TOKENS: &str = include_str!("../../../style/tokens.css");

/// Foreground, background, and the required ratio.
pub const CONTRAST_PAIRS: [(&str, &str, f64); 34] = [
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
    // The stop button has inverted colours.
    ("bg", "text", 4.5),
    ("border-strong", "surface", 3.0),
    ("border-strong", "bg", 3.0),
    ("border-strong", "sunken", 3.0),
    ("focus", "bg", 3.0),
    ("focus", "surface", 3.0),
    ("focus", "user-bubble", 3.0),
];

/// A colour in 8-bit sRGB.
pub type RgbColour = [u8; 3];

/// A token that is declared as `--name: light-dark(#rrggbb, #rrggbb);`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ColourToken {
    pub name: &'static str,
    pub light: RgbColour,
    pub dark: RgbColour,
}

/// Returns all colour tokens, in the order of the sheet.
pub fn colour_tokens() -> Vec<ColourToken> {
    let read = |line: &'static str| {
        let (name, value) = line.trim().strip_prefix("--")?.split_once(": light-dark(")?;
        let (light, dark) = value.strip_suffix(");")?.split_once(", ")?;
        Some(ColourToken { name, light: hex(light)?, dark: hex(dark)? })
    };
    TOKENS.lines().filter_map(read).collect()
}

/// Returns the colour token with this name.
pub fn find_colour_token(name: &str) -> Option<ColourToken> {
    colour_tokens().into_iter().find(|colour| colour.name == name)
}

fn hex(text: &str) -> Option<RgbColour> {
    let digits = text.strip_prefix('#').filter(|digits| digits.len() == 6)?;
    let part = |at: usize| u8::from_str_radix(digits.get(at..at + 2)?, 16).ok();
    Some([part(0)?, part(2)?, part(4)?])
}

/// Formats a colour for a style sheet.
pub fn to_css_hex([r, g, b]: RgbColour) -> String {
    format!("#{r:02x}{g:02x}{b:02x}")
}

/// Computes the relative luminance of WCAG 2.
fn luminance(colour: RgbColour) -> f64 {
    let linear = |channel: u8| {
        let c = f64::from(channel) / 255.0;
        if c <= 0.04045 { c / 12.92 } else { ((c + 0.055) / 1.055).powf(2.4) }
    };
    let [r, g, b] = colour.map(linear);
    0.2126 * r + 0.7152 * g + 0.0722 * b
}

/// Computes the contrast ratio of WCAG 2.
pub fn contrast(a: RgbColour, b: RgbColour) -> f64 {
    let (a, b) = (luminance(a), luminance(b));
    (a.max(b) + 0.05) / (a.min(b) + 0.05)
}
