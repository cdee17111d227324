//! Ranks the likely encodings of a text without a byte order mark, most likely first. They are only suggested to
//! people.

use encoding_rs::{
    BIG5, EUC_JP, EUC_KR, Encoding, GBK, ISO_2022_JP, ISO_8859_2, KOI8_R, SHIFT_JIS, UTF_16BE, UTF_16LE, WINDOWS_874,
    WINDOWS_1250, WINDOWS_1251, WINDOWS_1252, WINDOWS_1253, WINDOWS_1255, WINDOWS_1256,
};

use turnleaf_domain::limits;

/// In the order of preference for equal scores.
const KNOWN: [&Encoding; 14] = [
    WINDOWS_1252,
    GBK,
    SHIFT_JIS,
    BIG5,
    EUC_KR,
    EUC_JP,
    WINDOWS_1251,
    WINDOWS_1250,
    KOI8_R,
    WINDOWS_1253,
    WINDOWS_1256,
    WINDOWS_1255,
    WINDOWS_874,
    ISO_8859_2,
];
/// Minimum score out of 100 for a plausible text.
const LEAST: u32 = 25;

/// Returns WHATWG names, at least one and at most [`limits::ENCODING_CHOICES`].
pub fn likely_encodings(bytes: &[u8]) -> Vec<String> {
    if let Some(encoding) = unmarked_utf_16(bytes) {
        return vec![encoding.name().to_owned()];
    }
    let sample = &bytes[..bytes.len().min(limits::ENCODING_SAMPLE)];
    let mut scored: Vec<(u32, &str)> =
        KNOWN.iter().filter_map(|encoding| Some((score(encoding, sample)?, encoding.name()))).collect();
    if has_iso_2022_jp_escapes(bytes) {
        scored.push((u32::MAX, ISO_2022_JP.name()));
    }
    // A stable sort keeps the order of preference.
    scored.sort_by_key(|(score, _)| std::cmp::Reverse(*score));
    let is_any = scored.first().is_some_and(|(score, _)| *score >= LEAST);
    scored.retain(|(score, _)| !is_any || *score >= LEAST);
    scored.truncate(limits::ENCODING_CHOICES);
    match scored.is_empty() {
        true => vec![WINDOWS_1252.name().to_owned()],
        false => scored.into_iter().map(|(_, name)| name.to_owned()).collect(),
    }
}

/// Detects UTF-16 without a byte order mark in mostly ASCII text: every second byte is NUL.
pub fn unmarked_utf_16(bytes: &[u8]) -> Option<&'static Encoding> {
    let sample = &bytes[..bytes.len().min(limits::ENCODING_SAMPLE)];
    let (pairs, rest) = sample.as_chunks::<2>();
    let nul = |at: usize| pairs.iter().filter(|pair| pair[at] == 0).count();
    let (first, second) = (nul(0), nul(1));
    let is_most = |count: usize| count * 2 > pairs.len();
    match rest.is_empty() {
        true if is_most(second) && first == 0 => Some(UTF_16LE),
        true if is_most(first) && second == 0 => Some(UTF_16BE),
        _ => None,
    }
}

/// Detects ISO-2022-JP, which is pure ASCII with escape sequences that switch to Japanese.
pub fn has_iso_2022_jp_escapes(bytes: &[u8]) -> bool {
    let sample = &bytes[..bytes.len().min(limits::ENCODING_SAMPLE)];
    sample.windows(3).any(|three| matches!(three, b"\x1b$B" | b"\x1b$@"))
}

/// Scores from 0 to 100 how plausible the text is in this encoding. `None` if the bytes are invalid in it.
fn score(encoding: &'static Encoding, sample: &[u8]) -> Option<u32> {
    let text = decode_sample(encoding, sample)?;
    let (mut sum, mut count, mut before) = (0, 0, ' ');
    for c in text.chars() {
        if !c.is_ascii() {
            sum += weight(encoding, c, before);
            count += 1;
        }
        before = c;
    }
    (count > 0).then(|| sum / count)
}

/// Decodes a sample, which may end within a character.
fn decode_sample(encoding: &'static Encoding, sample: &[u8]) -> Option<String> {
    (0..4)
        .filter_map(|cut| sample.get(..sample.len().checked_sub(cut)?))
        .find_map(|part| encoding.decode_without_bom_handling_and_without_replacement(part))
        .map(String::from)
}

/// Weighs from 0 to 100 how common a character is in texts of this encoding.
fn weight(encoding: &'static Encoding, c: char, before: char) -> u32 {
    let latin = |usual: &str| match c {
        // Languages with such letters use them singly, between ASCII letters.
        _ if usual.contains(c) && before.is_ascii() => 90,
        _ if usual.contains(c) => 40,
        '–' | '—' | '‘' | '’' | '“' | '”' | '„' | '…' | '€' | '«' | '»' | '§' | '°' => 70,
        _ if c.is_alphabetic() && before.is_ascii() => 40,
        _ => 5,
    };
    // Letters of these scripts fill half of the code page, so bytes of other encodings resemble them; but they never
    // occur within ASCII words.
    let is_mixed = before.is_ascii_alphabetic();
    match encoding {
        _ if encoding == WINDOWS_1252 => latin("äöüßéèêëàâáãåæçñóòôõøíìîïúùûÄÖÜÉ"),
        _ if encoding == WINDOWS_1250 || encoding == ISO_8859_2 => {
            latin("ąćęłńśźżčďěňřšťůžýáíéúőűôľĺäöü").saturating_sub(1)
        }
        _ if is_mixed && encoding.is_single_byte() => 5,
        _ if encoding == WINDOWS_1251 || encoding == KOI8_R => match c {
            'а'..='я' | 'ё' => 95,
            'А'..='Я' if !before.is_alphabetic() => 90,
            'А'..='Я' => 30,
            '–' | '—' | '«' | '»' | '№' => 70,
            _ => 5,
        },
        _ if encoding == WINDOWS_1253 => match c {
            'ά'..='ώ' => 90,
            'Ά'..='Ϋ' if !before.is_alphabetic() => 85,
            'Ά'..='Ϋ' => 20,
            _ => 5,
        },
        _ if encoding == WINDOWS_1255 => {
            if ('א'..='ת').contains(&c) {
                96
            } else {
                5
            }
        }
        _ if encoding == WINDOWS_1256 => {
            if ('\u{621}'..='\u{652}').contains(&c) {
                94
            } else {
                5
            }
        }
        _ if encoding == WINDOWS_874 => {
            match c {
                // Combining marks need a base letter.
                '\u{e31}' | '\u{e34}'..='\u{e3a}' | '\u{e47}'..='\u{e4e}' => {
                    if ('\u{e01}'..='\u{e4e}').contains(&before) { 95 } else { 0 }
                }
                '\u{e01}'..='\u{e5b}' => 75,
                _ => 5,
            }
        }
        _ => eastern_weight(encoding, c),
    }
}

/// Weighs East Asian characters: their code pages hold the common ones in the first part.
fn eastern_weight(encoding: &'static Encoding, c: char) -> u32 {
    let mut letter = [0; 4];
    let (bytes, _, is_lost) = encoding.encode(c.encode_utf8(&mut letter));
    let lead = match (&*bytes, is_lost) {
        ([lead, _], false) => *lead,
        ([_], false) => return 20,
        _ => return 0,
    };
    let is_japanese = encoding == SHIFT_JIS || encoding == EUC_JP;
    match c {
        '\u{3041}'..='\u{30ff}' => {
            if is_japanese {
                100
            } else {
                20
            }
        }
        '\u{ac00}'..='\u{d7a3}' => 95,
        '、' | '。' | ',' | '!' | '?' | ':' | '(' | ')' | '《' | '》' | '「' | '」' => 85,
        _ => {
            let usual = match encoding {
                _ if encoding == GBK => 0xb0..=0xd7,
                _ if encoding == BIG5 => 0xa4..=0xc6,
                _ if encoding == SHIFT_JIS => 0x88..=0x97,
                _ if encoding == EUC_JP => 0xb0..=0xcf,
                // Chinese characters are rare in Korean text.
                _ => return 30,
            };
            if usual.contains(&lead) { 90 } else { 20 }
        }
    }
}
