//! The spellings of a secret: as it stands, and as JSON may write it, also in JSON that is a text of JSON. Any character may
//! stand as `\u` and its number, some stand behind a backslash, and every level of JSON doubles the backslashes.

/// More backslashes than these for one character are no JSON that somebody writes.
const ESCAPES: usize = 64;
/// The bytes of `u0041`.
const NUMBER: usize = 5;
/// Bytes that are compared at once.
const PIECE: usize = 64;

/// How much comparing one search may still do. Ordinary text needs a small part of it. A text that begins like a long key
/// at every place would take its length times that of the key, and a server may choose both.
#[derive(Debug)]
pub(super) struct WorkBudget(usize);

impl WorkBudget {
    /// As much as text of this length may take.
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

/// How far bytes begin with a secret.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum SecretMatch {
    None,
    /// All bytes are its beginning.
    Partial,
    /// It is so many bytes long.
    Full(usize),
    /// It is so many bytes long, and longer where more of it follows.
    FullAtEnd(usize),
}

/// Matches a secret with the beginning of bytes.
pub(super) fn match_secret(bytes: &[u8], secret: &str, work: &mut WorkBudget) -> SecretMatch {
    let common = common_length(bytes, secret.as_bytes());
    work.spend(common / PIECE);
    let is_escape_next = common < secret.len() && bytes.get(common) == Some(&b'\\');
    if !is_escape_next && !bytes[..common].contains(&b'\\') {
        // Without a backslash there is one spelling.
        return match_plain(bytes, secret);
    }
    // The escaped spelling comes first: the backslash at a secret's end is two there. Plain text matches as escaped text
    // does, except where the secret itself reads like an escape.
    match (match_escaped(bytes, secret, work), match_plain(bytes, secret)) {
        (SecretMatch::None, plain) => plain,
        (SecretMatch::Partial, SecretMatch::Full(length)) => SecretMatch::FullAtEnd(length),
        (escaped, _) => escaped,
    }
}

/// How many bytes two begin with together. Many at once are compared, because the same server may choose its key and what
/// it sends, so that every place of a long text begins like the key.
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

/// Backslashes that bytes begin with: runs of them with the number of one behind each, and a last run.
struct Backslashes {
    /// The bytes before the last run.
    numbered: usize,
    /// The last run.
    run: usize,
    /// The bytes end within a number.
    is_begun: bool,
    /// How many of a secret's backslashes the numbered ones may be: a run means fewer of them the more levels there are.
    least: usize,
    most: usize,
}

/// Reads the backslashes that may be `own` ones of a secret, with the escape of the character behind them.
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

/// Matches so many backslashes of a secret and the character behind them.
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

/// Matches the backslashes that a secret ends with. Of a longer run, those that are a multiple by levels belong to it; the
/// others escape what follows.
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

/// Matches the escape of a character, behind its backslashes.
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
        // The second half of a pair has backslashes of its own.
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

/// Matches `u` and the four digits of a UTF-16 unit.
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
