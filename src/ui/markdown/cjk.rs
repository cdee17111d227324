//! Emphasis beside Chinese, Japanese and Korean text, by the CJK-friendly amendment of CommonMark.
//!
//! CommonMark decides by spaces and punctuation whether asterisks can open or close emphasis. Text without spaces loses
//! its emphasis at every quotation mark: `**“引号”**后面`. The amendment lets a CJK character count like a space beside
//! other punctuation, and CJK punctuation like a letter. The parser does not know it, so it is shown a stand-in for the
//! character beside the asterisks or tildes: a letter or a full stop of the same length. Underscores need none of this: the
//! amendment changes nothing for them.

/// A character of the text that the parser reads as another one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct StandIn {
    /// The offset of the character in the text, in bytes.
    pub at: usize,
    /// The replacement, as long as the character.
    pub shown: &'static str,
}

const LETTER: &str = "一";
const STOP: &str = "。";
/// Punctuation of four bytes, for the rare ideographs that have as many.
const LONG_STOP: &str = "\u{10100}";

/// Returns the stand-ins that the runs of asterisks and of two tildes in the text need, in order. Some may lie in code or
/// addresses, where none is allowed: only the parser knows.
///
/// A character can stand between two runs that want different things of it: `**价格**：**$5**`. So a run gets only what
/// it needs to open or to close, by what is open on its line.
pub fn stand_ins(text: &str) -> Vec<StandIn> {
    let mut found: Vec<StandIn> = Vec::new();
    // A bit for each mark and length.
    let mut open = 0_u32;
    let mut from = 0;
    while let Some(start) = text[from..].find(['*', '~']).map(|offset| from + offset) {
        let mark = text.as_bytes()[start];
        let length = text[start..].bytes().take_while(|byte| *byte == mark).count();
        let end = start + length;
        if text[from..start].contains('\n') {
            open = 0;
        }
        from = end;
        // One tilde stands between numbers.
        if mark == b'~' && length != 2 {
            continue;
        }
        let before = text[..start].chars().next_back().unwrap_or(' ');
        let after = text[end..].chars().next().unwrap_or(' ');
        let sides = (Neighbor::of(before), Neighbor::of(after));
        let bit = 1_u32 << if mark == b'*' { length.min(15) } else { 16 };
        let may_close = !matches!(sides, (Neighbor::Space, _) | (Neighbor::Punctuation, Neighbor::Letter));
        let may_open = !matches!(sides, (_, Neighbor::Space) | (Neighbor::Letter, Neighbor::Punctuation));
        // Three asterisks can close one and two.
        let is_closing = may_close && (open & bit != 0 || (length > 2 && open != 0));
        if is_closing {
            open = if open & bit == 0 { 0 } else { open & !bit };
        } else if may_open {
            open |= bit;
        }
        let first = start.saturating_sub(before.len_utf8());
        let (at, shown) = match sides {
            (Neighbor::CjkLetter, Neighbor::Punctuation) if !is_closing => (first, stop(before)),
            (Neighbor::Punctuation, Neighbor::CjkLetter) if is_closing => (end, stop(after)),
            (Neighbor::CjkPunctuation, Neighbor::Letter | Neighbor::CjkLetter) if is_closing => (first, letter(before)),
            (Neighbor::Letter | Neighbor::CjkLetter, Neighbor::CjkPunctuation) if !is_closing => (end, letter(after)),
            _ => continue,
        };
        // One character between two runs has one reading.
        if let Some(shown) = shown.filter(|_| found.last().is_none_or(|last| last.at < at)) {
            found.push(StandIn { at, shown });
        }
    }
    found
}

/// Returns whether a character is wide East Asian text or Hangul, and no emoji.
pub fn is_cjk(c: char) -> bool {
    matches!(c,
        '\u{1100}'..='\u{11ff}' | '\u{20a9}' | '\u{2e80}'..='\u{303e}' | '\u{3041}'..='\u{a4cf}' | '\u{a960}'..='\u{a97f}'
        | '\u{ac00}'..='\u{d7ff}' | '\u{f900}'..='\u{faff}' | '\u{fe10}'..='\u{fe19}' | '\u{fe30}'..='\u{fe6f}'
        | '\u{ff01}'..='\u{ffe6}' | '\u{1aff0}'..='\u{1b2ff}' | '\u{20000}'..='\u{3fffd}')
}

/// The kind of character beside a run.
#[derive(Clone, Copy)]
enum Neighbor {
    Space,
    Letter,
    Punctuation,
    CjkLetter,
    CjkPunctuation,
}

impl Neighbor {
    fn of(c: char) -> Self {
        match (is_cjk(c), c.is_alphanumeric()) {
            _ if c.is_whitespace() => Self::Space,
            (true, true) => Self::CjkLetter,
            (true, false) => Self::CjkPunctuation,
            (false, true) => Self::Letter,
            (false, false) => Self::Punctuation,
        }
    }
}

fn stop(c: char) -> Option<&'static str> {
    [STOP, LONG_STOP].into_iter().find(|shown| shown.len() == c.len_utf8())
}

fn letter(c: char) -> Option<&'static str> {
    Some(LETTER).filter(|shown| shown.len() == c.len_utf8())
}
