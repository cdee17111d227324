//! Emphasis beside Chinese, Japanese and Korean text, by the CJK-friendly amendment of CommonMark.
//!
//! CommonMark decides by spaces and punctuation whether asterisks can open or close emphasis. Text without spaces loses
//! its emphasis at every quotation mark: `**“引号”**后面`. The amendment lets a CJK character count like a space beside
//! other punctuation, and CJK punctuation like a letter. The parser does not know it, so it is shown a stand-in for the
//! character beside the asterisks: a letter or a full stop of the same length. Underscores need none of this: the
//! amendment changes nothing for them.

/// A character of the text that the parser reads as another one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct StandIn {
    /// Where the character starts.
    pub at: usize,
    /// As long as the character.
    pub shown: &'static str,
}

const LETTER: &str = "一";
const STOP: &str = "。";
/// Punctuation of four bytes, for the rare ideographs that have as many.
const LONG_STOP: &str = "\u{10100}";

/// Returns the stand-ins that every run of asterisks in the text needs, in order. Some may lie in code or addresses,
/// where none is allowed: only the parser knows.
pub fn stand_ins(text: &str) -> Vec<StandIn> {
    let mut found: Vec<StandIn> = Vec::new();
    let mut from = 0;
    while let Some(start) = text[from..].find('*').map(|offset| from + offset) {
        let end = start + text[start..].bytes().take_while(|byte| *byte == b'*').count();
        from = end;
        let Some((before, after)) = text[..start].chars().next_back().zip(text[end..].chars().next()) else { continue };
        let first = start - before.len_utf8();
        let change = match (Neighbor::of(before), Neighbor::of(after)) {
            (Neighbor::CjkLetter, Neighbor::Punctuation) => stop(before).map(|shown| (first, shown)),
            (Neighbor::Punctuation, Neighbor::CjkLetter) => stop(after).map(|shown| (end, shown)),
            (Neighbor::CjkPunctuation, Neighbor::Letter | Neighbor::CjkLetter) => {
                letter(before).map(|shown| (first, shown))
            }
            (Neighbor::Letter | Neighbor::CjkLetter, Neighbor::CjkPunctuation) => {
                letter(after).map(|shown| (end, shown))
            }
            _ => None,
        };
        // One character between two runs has one reading.
        if let Some((at, shown)) = change.filter(|(at, _)| found.last().is_none_or(|last| last.at < *at)) {
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

/// What stands beside a run of asterisks.
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
