//! Matcher for the encodings of a secret: verbatim, and as JSON may escape it, also in nested JSON. Any character may
//! be written as `\u` and its number, some after a backslash, and every level of JSON doubles the backslashes.

/// The maximum number of backslashes for one character; no program writes more.
const ESCAPES: usize = 64;
/// The length of `u0041`.
const NUMBER: usize = 5;
/// The number of bytes that are compared at once.
const PIECE: usize = 64;

/// Work budget of one search, which ordinary text hardly uses. It bounds the quadratic case: a text that resembles a
/// long key at every offset would take the product of both lengths, and a server may choose both.
#[derive(Debug)]
pub(super) struct WorkBudget(usize);

impl WorkBudget {
    /// Returns the budget for a text of this length.
    pub fn for_length(bytes: usize) -> Self {
        const LEAST: usize = 1 << 20;
        const PER_BYTE: usize = 32;
        Self(LEAST.saturating_add(bytes.saturating_mul(PER_BYTE)))
    }

    pub fn is_spent(&self) -> bool {
        self.0 == 0
    }

    fn spend(&mut self, steps: usize) {
        self.0 = self.0.saturating_sub(steps);
    }
}

/// The result of matching a secret against the beginning of bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum SecretMatch {
    None,
    /// All of the bytes are the beginning of the secret.
    Partial,
    /// The secret is at the beginning, with this length.
    Full(usize),
    /// The secret is at the beginning, with this length, and may be longer if more bytes follow.
    FullAtEnd(usize),
}

/// Matches a secret against the beginning of bytes.
pub(super) fn match_secret(bytes: &[u8], secret: &str, work: &mut WorkBudget) -> SecretMatch {
    let common = common_length(bytes, secret.as_bytes());
    work.spend(common / PIECE);
    let is_escape_next = common < secret.len() && bytes.get(common) == Some(&b'\\');
    if !is_escape_next && !bytes[..common].contains(&b'\\') {
        // Without a backslash there is only one encoding.
        return match_plain(bytes, secret);
    }
    // The escaped encoding is tried first, because a backslash at the end of a secret is doubled in it. Plain text
    // matches as escaped text does, except if the secret itself reads like an escape.
    match (match_escaped(bytes, secret, work), match_plain(bytes, secret)) {
        (SecretMatch::None, plain) => plain,
        (SecretMatch::Partial, SecretMatch::Full(length)) => SecretMatch::FullAtEnd(length),
        (escaped, _) => escaped,
    }
}

/// Returns the length of the common prefix. Many bytes are compared at once, because a server may choose both its key
/// and its output, so that every offset of a long text resembles the key.
fn common_length(left: &[u8], right: &[u8]) -> usize {
    let pieces = left.chunks_exact(PIECE).zip(right.chunks_exact(PIECE));
    let equal = PIECE * pieces.take_while(|(left, right)| left == right).count();
    let rest = left[equal..].iter().zip(&right[equal..]);
    equal + rest.take_while(|(left, right)| left == right).count()
}

fn match_plain(bytes: &[u8], text: &str) -> SecretMatch {
    if bytes.starts_with(text.as_bytes()) {
        SecretMatch::Full(text.len())
    } else if text.as_bytes().starts_with(bytes) {
        SecretMatch::Partial
    } else {
        SecretMatch::None
    }
}

fn match_escaped(bytes: &[u8], secret: &str, work: &mut WorkBudget) -> SecretMatch {
    let (mut at, mut rest) = (0, secret);
    while !rest.is_empty() {
        if work.is_spent() {
            return SecretMatch::None;
        }
        let behind = rest.trim_start_matches('\\');
        let own = rest.len() - behind.len();
        let next = behind.chars().next();
        let found = match next {
            Some(next) => match_character(&bytes[at..], own, next),
            None => match_last_backslashes(&bytes[at..], own),
        };
        match found {
            SecretMatch::Full(length) => {
                at += length;
                work.spend(length);
            }
            SecretMatch::FullAtEnd(length) => return SecretMatch::FullAtEnd(at + length),
            SecretMatch::None | SecretMatch::Partial => return found,
        }
        rest = &behind[next.map_or(0, char::len_utf8)..];
    }
    SecretMatch::Full(at)
}

/// A run of backslashes at the beginning: runs that end with a numeric escape of a backslash, and a last run without
/// one.
struct Backslashes {
    /// The number of bytes before the last run.
    numbered: usize,
    /// The length of the last run.
    run: usize,
    /// The bytes end within a numeric escape.
    is_begun: bool,
    /// The bounds on how many of a secret's backslashes the numeric escapes represent: at a deeper level, a run
    /// represents fewer.
    least: usize,
    most: usize,
}

/// Reads backslashes that may represent `own` backslashes of a secret, together with the escape of the next
/// character.
fn read_backslashes(bytes: &[u8], own: usize) -> Option<Backslashes> {
    let mut found = Backslashes { numbered: 0, run: 0, is_begun: false, least: 0, most: 0 };
    let longest = ESCAPES * (own + 1);
    loop {
        let rest = &bytes[found.numbered..];
        found.run = rest.iter().take(longest + 1).take_while(|byte| **byte == b'\\').count();
        if found.run > longest {
            return None;
        }
        let number = if found.least < own && found.run > 0 {
            match_unit(&rest[found.run..], b'\\'.into())
        } else {
            SecretMatch::None
        };
        match number {
            SecretMatch::Full(length) => {
                found.least += 1;
                found.most += found.run;
                found.numbered += found.run + length;
            }
            other => {
                found.is_begun = other == SecretMatch::Partial;
                return Some(found);
            }
        }
    }
}

/// Matches `own` backslashes of a secret and the next character.
fn match_character(bytes: &[u8], own: usize, next: char) -> SecretMatch {
    let Some(Backslashes { numbered, run, least, most, .. }) = read_backslashes(bytes, own) else {
        return SecretMatch::None;
    };
    let behind = &bytes[numbered + run..];
    if behind.is_empty() {
        return SecretMatch::Partial;
    }
    let is_own = |most: usize| (least..=most).contains(&own);
    let escaped = if run > 0 && is_own(most + run - 1) { match_escape(behind, next) } else { SecretMatch::None };
    let is_plain = if own > 0 && run > 0 { is_own(most + run) && own > least } else { run == 0 && is_own(most) };
    let plain = if is_plain { match_plain(behind, next.encode_utf8(&mut [0; 4])) } else { SecretMatch::None };
    match (escaped, plain) {
        (SecretMatch::Full(length), _) | (_, SecretMatch::Full(length)) => SecretMatch::Full(numbered + run + length),
        (SecretMatch::Partial, _) | (_, SecretMatch::Partial) => SecretMatch::Partial,
        _ => SecretMatch::None,
    }
}

/// Matches the backslashes at the end of a secret. Of a longer run, the multiple that the nesting level implies
/// belongs to the secret; the rest escapes what follows.
fn match_last_backslashes(bytes: &[u8], own: usize) -> SecretMatch {
    let Some(Backslashes { numbered, run, is_begun, least, most }) = read_backslashes(bytes, own) else {
        return SecretMatch::None;
    };
    let may_go_on = is_begun || bytes.len() == numbered + run;
    if own <= most {
        let may_be_longer = may_go_on && least < own;
        return if may_be_longer { SecretMatch::FullAtEnd(numbered) } else { SecretMatch::Full(numbered) };
    }
    let missing = own - most;
    let levels = (run / missing).checked_ilog2();
    match levels.map(|levels| numbered + (missing << levels)) {
        Some(length) if may_go_on => SecretMatch::FullAtEnd(length),
        Some(length) => SecretMatch::Full(length),
        None if may_go_on => SecretMatch::Partial,
        None => SecretMatch::None,
    }
}

/// Matches the escape of a character, after its backslashes.
fn match_escape(bytes: &[u8], expected: char) -> SecretMatch {
    let short = match expected {
        '"' | '/' => Some(expected),
        '\n' => Some('n'),
        '\r' => Some('r'),
        '\t' => Some('t'),
        '\u{8}' => Some('b'),
        '\u{c}' => Some('f'),
        _ => None,
    };
    if short.is_some_and(|short| bytes[0] == short as u8) {
        return SecretMatch::Full(1);
    }
    let mut units = [0; 2];
    let mut at = 0;
    for (index, unit) in expected.encode_utf16(&mut units).iter().enumerate() {
        // The low surrogate of a pair has backslashes of its own.
        if index > 0 {
            let run = bytes[at..].iter().take(ESCAPES + 1).take_while(|byte| **byte == b'\\').count();
            at += run;
            if bytes.len() > at && (run == 0 || run > ESCAPES) {
                return SecretMatch::None;
            }
        }
        match match_unit(&bytes[at..], *unit) {
            SecretMatch::Full(length) => at += length,
            other => return other,
        }
    }
    SecretMatch::Full(at)
}

/// Matches `u` and the four hex digits of a UTF-16 code unit.
fn match_unit(bytes: &[u8], unit: u16) -> SecretMatch {
    let is_expected = |(at, byte): (usize, &u8)| match at {
        0 => *byte == b'u',
        at => char::from(*byte).to_digit(16) == Some(u32::from(unit) >> (4 * (NUMBER - 1 - at)) & 15),
    };
    if !bytes.iter().take(NUMBER).enumerate().all(is_expected) {
        return SecretMatch::None;
    }
    if bytes.len() < NUMBER { SecretMatch::Partial } else { SecretMatch::Full(NUMBER) }
}
