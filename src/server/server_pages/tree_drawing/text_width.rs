//! Upper bound of the width of a text, by the character widths of the wide ones of the usual fonts. The server draws
//! and has no fonts; a box that is a little too wide does no harm.

/// Returns the width of a text in pixels at a font size.
pub fn text_width(text: &str, font_size: usize) -> usize {
    let hundredths: usize = text.chars().map(char_width).sum();
    (hundredths * font_size).div_ceil(100)
}

/// Returns the width of a character in hundredths of the font size.
fn char_width(c: char) -> usize {
    match c {
        'i' | 'j' | 'l' | '\'' | '|' | '.' | ',' | ':' | ';' | '!' | ' ' | '·' | 'I' => 36,
        'f' | 'r' | 't' | '(' | ')' | '[' | ']' | '/' | '-' | '"' => 44,
        'm' | 'w' | 'M' | 'W' | '@' | '%' | '…' => 104,
        '0'..='9' => 64,
        'A'..='Z' | '&' => 80,
        ' '..='~' => 64,
        // Marks that are drawn over the character before them, and characters that are not drawn.
        '\u{300}'..='\u{36f}' | '\u{200b}'..='\u{200f}' | '\u{fe00}'..='\u{fe0f}' => 0,
        // Latin, Greek, Cyrillic, Hebrew, Arabic.
        '\u{a0}'..='\u{7ff}' => 76,
        // Chinese, Japanese, Korean, symbols, pictures.
        _ => 104,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Advances of DejaVu Sans, the widest of the usual fonts, in thousandths of the font size.
    const MEASURED: [(char, usize); 14] = [
        ('a', 613),
        ('e', 615),
        ('i', 278),
        ('m', 974),
        ('n', 634),
        ('o', 612),
        ('p', 635),
        ('s', 521),
        ('t', 392),
        ('W', 989),
        ('O', 787),
        ('8', 636),
        ('·', 318),
        ('■', 945),
    ];

    #[test]
    fn text_is_no_wider_than_it_is_taken_for() {
        for (c, advance) in MEASURED {
            assert!(char_width(c) * 10 >= advance, "{c}");
        }
        assert_eq!(text_width("", 12), 0);
        assert_eq!(text_width("已停止", 12), 38);
        assert_eq!(text_width("e\u{301}", 100), text_width("e", 100));
    }
}
