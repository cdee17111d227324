//! Reads the dates of a log in HTML, which Google prints in the language and the time zone of the account.
//!
//! Samples in public readers of such logs, in the order of the tests below: English (`Sep 2, 2026, 12:12:52 PM PDT`),
//! German (`18.04.2026, 17:38:51 MESZ`), French (`2 sept. 2026, 09:00:00 UTC+02:00`), Spanish (`10 abr 2026, 19:55:59
//! CEST`), Portuguese (`10 de mai. de 2026, 03:46:09 BRT`), Japanese (`2026/05/21 17:47:55 JST`), Chinese
//! (`2026年5月21日 17:47:55 CST`), Korean (`2026. 5. 21. 오후 5:47:55 KST`). The names of months are those of CLDR.
//!
//! A date that is not understood as a whole gives no time: neither the order of day and month nor the zone is guessed.
//! Some abbreviations of zones mean several: `CST` is that of China in a Chinese date, and that of America if the log
//! also has its summer time; `IST` is that of Israel if the log also has its summer time.

use chrono::{DateTime, FixedOffset, NaiveDate, TimeZone, Utc};

/// The date of a line, if it is one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum LineDate {
    /// It is no date.
    NoDate,
    /// It looks like a date, but cannot be read as one moment.
    Unclear,
    At(DateTime<Utc>),
}

/// The zones that a log names elsewhere.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct ZoneHints {
    has_cdt: bool,
    has_idt: bool,
}

impl ZoneHints {
    /// Looks for zones in an entry.
    pub(super) fn look_at(&mut self, html: &str) {
        self.has_cdt |= html.contains(" CDT<");
        self.has_idt |= html.contains(" IDT<");
    }
}

/// The longest line that may be a date, in characters.
const LONGEST: usize = 60;

/// The months by their number, in the languages above, without final dots.
const MONTHS: [&[&str]; 12] = [
    &["jan", "january", "januar", "jän", "janv", "janvier", "ene", "enero", "janeiro", "gen", "gennaio", "januari"],
    &["feb", "february", "februar", "févr", "février", "febrero", "fev", "fevereiro", "febbraio", "februari"],
    &["mar", "march", "märz", "mär", "mars", "marzo", "março", "mrt", "maart"],
    &["apr", "april", "avr", "avril", "abr", "abril", "aprile"],
    &["may", "mai", "mayo", "maio", "mag", "maggio", "mei"],
    &["jun", "june", "juni", "juin", "junio", "junho", "giu", "giugno"],
    &["jul", "july", "juli", "juil", "juillet", "julio", "julho", "lug", "luglio"],
    &["aug", "august", "août", "ago", "agosto", "augustus"],
    &["sep", "sept", "september", "septembre", "septiembre", "set", "setembro", "settembre"],
    &["oct", "october", "okt", "oktober", "octobre", "octubre", "out", "outubro", "ott", "ottobre"],
    &["nov", "november", "novembre", "noviembre", "novembro"],
    &["dec", "december", "dez", "dezember", "déc", "décembre", "dic", "diciembre", "dezembro", "dicembre"],
];

/// Words of a date that mean nothing by themselves.
const FILLERS: [&str; 5] = ["de", "del", "à", "at", "um"];

/// The words for the halves of a day. The longer ones come first.
const BEFORE_NOON: [&str; 6] = ["a. m.", "a.m.", "am", "上午", "午前", "오전"];
const AFTER_NOON: [&str; 6] = ["p. m.", "p.m.", "pm", "下午", "午後", "오후"];

/// The abbreviations of zones with their offsets in minutes.
const ZONES: [(&str, i32); 41] = [
    ("WET", 0),
    ("WEST", 60),
    ("BST", 60),
    ("CET", 60),
    ("CEST", 120),
    ("MEZ", 60),
    ("MESZ", 120),
    ("EET", 120),
    ("EEST", 180),
    ("IDT", 180),
    ("MSK", 180),
    ("SAST", 120),
    ("PKT", 300),
    ("WIB", 420),
    ("HKT", 480),
    ("SGT", 480),
    ("JST", 540),
    ("KST", 540),
    ("AWST", 480),
    ("ACST", 570),
    ("ACDT", 630),
    ("AEST", 600),
    ("AEDT", 660),
    ("NZST", 720),
    ("NZDT", 780),
    ("BRT", -180),
    ("BRST", -120),
    ("ART", -180),
    ("CLT", -240),
    ("CLST", -180),
    ("COT", -300),
    ("PET", -300),
    ("EST", -300),
    ("EDT", -240),
    ("CDT", -300),
    ("MST", -420),
    ("MDT", -360),
    ("PST", -480),
    ("PDT", -420),
    ("AKST", -540),
    ("AKDT", -480),
];

/// Reads a line of an entry.
pub(super) fn read_date(line: &str, hints: ZoneHints) -> LineDate {
    let line = line.replace(['\u{a0}', '\u{202f}', '\u{200e}', '\u{200f}'], " ");
    let line = line.trim();
    if line.chars().count() > LONGEST || !looks_like_date(line) {
        return LineDate::NoDate;
    }
    parse(line, hints).map_or(LineDate::Unclear, LineDate::At)
}

/// Returns whether a line has a year and a time of day, and not many words.
fn looks_like_date(line: &str) -> bool {
    let is_year = |digits: &&str| digits.len() == 4 && digits.starts_with("20");
    let has_year = line.split(|c: char| !c.is_ascii_digit()).any(|digits| is_year(&digits));
    let has_time = line.char_indices().any(|(at, c)| c == ':' && is_between_digits(line, at));
    has_year && has_time && line.split_whitespace().count() <= 9
}

fn is_between_digits(line: &str, at: usize) -> bool {
    let is_digit = |at: Option<usize>| at.and_then(|at| line.as_bytes().get(at)).is_some_and(u8::is_ascii_digit);
    is_digit(at.checked_sub(1)) && is_digit(at.checked_add(1))
}

fn parse(line: &str, hints: ZoneHints) -> Option<DateTime<Utc>> {
    let (line, minutes) = take_zone(line, hints)?;
    let lower = line.to_lowercase();
    let (lower, half) = take_half_of_day(&lower);
    let (lower, (hour, minute, second)) = take_time(&lower)?;
    let hour = match half {
        None => hour,
        Some(_) if !(1..=12).contains(&hour) => return None,
        Some(is_afternoon) => hour % 12 + if is_afternoon { 12 } else { 0 },
    };
    let (year, month, day) = take_day(&lower)?;
    let local = NaiveDate::from_ymd_opt(year, month, day)?.and_hms_opt(hour, minute, second)?;
    let zone = FixedOffset::east_opt(minutes * 60)?;
    Some(zone.from_local_datetime(&local).single()?.with_timezone(&Utc))
}

/// Returns the line without its zone, and the offset in minutes.
fn take_zone(line: &str, hints: ZoneHints) -> Option<(String, i32)> {
    for name in ["UTC", "GMT"] {
        if let Some(at) = line.find(name) {
            let rest = &line[at + name.len()..];
            let length = rest.find(|c: char| !"+-−:0123456789".contains(c)).unwrap_or(rest.len());
            let minutes = offset(&rest[..length])?;
            return Some((format!("{} {}", &line[..at], &rest[length..]), minutes));
        }
    }
    let is_letter = |c: char| c.is_ascii_uppercase();
    let is_zone = |word: &&str| word.len() >= 3 && word.chars().all(is_letter);
    let word = line.split(|c: char| c.is_whitespace() || c == ',').find(is_zone)?;
    let is_chinese = line.contains('年');
    let minutes = match word {
        "CST" if is_chinese => 480,
        "CST" if hints.has_cdt => -360,
        "IST" if hints.has_idt => 120,
        _ => ZONES.iter().find(|(name, _)| *name == word)?.1,
    };
    Some((line.replacen(word, " ", 1), minutes))
}

/// Reads an offset such as `+02:00`, `-3` or none.
fn offset(text: &str) -> Option<i32> {
    if text.is_empty() {
        return Some(0);
    }
    let (sign, rest) = match text.strip_prefix('+') {
        Some(rest) => (1, rest),
        None => (-1, text.strip_prefix(['-', '−'])?),
    };
    let (hours, minutes) = match rest.split_once(':') {
        Some(parts) => parts,
        None if rest.len() == 4 && rest.is_ascii() => rest.split_at(2),
        None => (rest, "0"),
    };
    // A second sign is no number.
    let number = |digits: &str| match digits.bytes().all(|byte| byte.is_ascii_digit()) {
        true => digits.parse::<i32>().ok(),
        false => None,
    };
    let (hours, minutes) = (number(hours)?, number(minutes)?);
    (hours <= 14 && minutes < 60).then_some(sign * (hours * 60 + minutes))
}

/// Returns the line without the word for a half of the day, and whether it is the afternoon.
fn take_half_of_day(line: &str) -> (String, Option<bool>) {
    let words = BEFORE_NOON.iter().map(|word| (word, false)).chain(AFTER_NOON.iter().map(|word| (word, true)));
    for (word, is_afternoon) in words {
        let found = line.find(word).filter(|at| {
            // Letters around it make it a part of another word, such as a month.
            let is_letter = |c: char| c.is_ascii_alphabetic();
            let before = line[..*at].chars().next_back();
            let after = line[at + word.len()..].chars().next();
            !word.is_ascii() || !(before.is_some_and(is_letter) || after.is_some_and(is_letter))
        });
        if let Some(at) = found {
            return (format!("{} {}", &line[..at], &line[at + word.len()..]), Some(is_afternoon));
        }
    }
    (line.to_owned(), None)
}

/// Returns the line without the time of day, and the time.
fn take_time(line: &str) -> Option<(String, (u32, u32, u32))> {
    let start = line.char_indices().find(|(at, c)| *c == ':' && is_between_digits(line, *at))?.0;
    let first = line[..start]
        .rfind(|c: char| !c.is_ascii_digit())
        .map_or(0, |at| at + line[at..].chars().next().map_or(1, char::len_utf8));
    let length = line[first..].find(|c: char| !c.is_ascii_digit() && c != ':').unwrap_or(line.len() - first);
    let numbers: Option<Vec<u32>> = line[first..first + length].split(':').map(|part| part.parse().ok()).collect();
    let time = match numbers?.as_slice() {
        [hour, minute] => (*hour, *minute, 0),
        [hour, minute, second] => (*hour, *minute, *second),
        _ => return None,
    };
    Some((format!("{} {}", &line[..first], &line[first + length..]), time))
}

/// Reads the year, the month and the day, if they are all that is left of a line.
fn take_day(line: &str) -> Option<(i32, u32, u32)> {
    let numbers: Vec<&str> = line.split(|c: char| !c.is_ascii_digit()).filter(|digits| !digits.is_empty()).collect();
    let words: Vec<&str> =
        line.split(|c: char| !c.is_alphabetic()).filter(|word| !word.is_empty() && !FILLERS.contains(word)).collect();
    let number = |digits: &str| digits.parse::<u32>().ok();
    let whole = |year: &str, month: u32, day: &str| -> Option<(i32, u32, u32)> {
        let is_whole = year.len() == 4 && day.len() <= 2;
        is_whole.then_some((year.parse().ok()?, month, number(day)?))
    };
    match (numbers.as_slice(), words.as_slice()) {
        ([one, other], [word]) => {
            let (_, month) = MONTHS.iter().zip(1_u32..).find(|(names, _)| names.contains(word))?;
            whole(one, month, other).or_else(|| whole(other, month, one))
        }
        ([year, month, day], ["年", "月", "日"]) => whole(year, number(month)?, day),
        ([year, month, day], []) if year.len() == 4 => whole(year, number(month)?, day),
        // Of numbers with other separators nobody knows which one is the month.
        ([day, month, year], []) if line.trim_start().get(day.len()..)?.starts_with('.') => {
            whole(year, number(month)?, day)
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(line: &str) -> LineDate {
        read_date(line, ZoneHints::default())
    }

    #[test]
    fn dates_of_public_samples_are_read() {
        let table = [
            ("Sep 2, 2026, 12:12:52 PM PDT", "2026-09-02T19:12:52Z"),
            ("Sep\u{a0}2, 2026, 12:12:52\u{202f}AM UTC", "2026-09-02T00:12:52Z"),
            ("Apr 12, 2026, 3:34:31 PM EDT", "2026-04-12T19:34:31Z"),
            ("12 April 2026, 15:34:31 BST", "2026-04-12T14:34:31Z"),
            ("18.04.2026, 17:38:51 MESZ", "2026-04-18T15:38:51Z"),
            ("2 sept. 2026, 09:00:00 UTC+02:00", "2026-09-02T07:00:00Z"),
            ("18 févr. 2026 à 17:38:51 CET", "2026-02-18T16:38:51Z"),
            ("10 abr 2026, 19:55:59 CEST", "2026-04-10T17:55:59Z"),
            ("10 abr 2026, 7:55:59 p. m. GMT-5", "2026-04-11T00:55:59Z"),
            ("10 de mai. de 2026, 03:46:09 BRT", "2026-05-10T06:46:09Z"),
            ("2026/05/21 17:47:55 JST", "2026-05-21T08:47:55Z"),
            ("2026年5月21日 17:47:55 CST", "2026-05-21T09:47:55Z"),
            ("2026年5月21日 GMT+8 下午5:47:55", "2026-05-21T09:47:55Z"),
            ("2026年5月21日 上午12:00:05 [UTC+08:00]", "2026-05-20T16:00:05Z"),
            ("2026. 5. 21. 오후 5:47:55 KST", "2026-05-21T08:47:55Z"),
            ("2026-05-21 17:47:55 UTC", "2026-05-21T17:47:55Z"),
            ("21 mag 2026, 17:47:55 CEST", "2026-05-21T15:47:55Z"),
        ];
        for (line, expected) in table {
            assert_eq!(read(line), LineDate::At(expected.parse().unwrap()), "{line}");
        }
    }

    #[test]
    fn unclear_dates_give_no_time() {
        let table = [
            "2 Smarch 2026, 05:09:00 UTC",
            "2 Sep 2026, 25:09:00 UTC",
            "31 Feb 2026, 05:09:00 UTC",
            // Without a zone, or with one that means several.
            "Sep 2, 2026, 12:12:52 PM",
            "Sep 2, 2026, 12:12:52 PM XYZ",
            "Jan 2, 2026, 12:12:52 PM CST",
            "2 Jan 2026, 14:12:52 IST",
            "Sep 2, 2026, 12:12:52 PM UTC+-999999999",
            "Sep 2, 2026, 12:12:52 PM UTC+2:-30",
            "Sep 2, 2026, 12:12:52 PM GMT+",
            "Sep 2, 2026, 12:12:52 PM UTC−99999999999",
            // The day and the month may be exchanged.
            "02/09/2026, 12:12:52 UTC",
            "02-09-2026 12:12:52 UTC",
            "13:12:52 PM UTC Sep 2, 2026",
        ];
        for line in table {
            assert_eq!(read(line), LineDate::Unclear, "{line}");
        }
    }

    #[test]
    fn other_lines_are_no_dates() {
        let table = [
            "",
            "Prompted Hello",
            "At 12:30",
            "In 2026",
            "The meeting of 2026 begins at 12:30, and the next one ends at 13:30 or so",
        ];
        for line in table {
            assert_eq!(read(line), LineDate::NoDate, "{line}");
        }
    }

    #[test]
    fn summer_time_of_log_tells_which_zone_is_meant() {
        let mut hints = ZoneHints::default();
        hints.look_at("<br>Jul 2, 2026, 12:12:52 PM CDT<br>");
        hints.look_at("<br>2 Jul 2026, 12:12:52 IDT<br>");
        let table = [
            ("Jan 2, 2026, 12:12:52 PM CST", "2026-01-02T18:12:52Z"),
            ("2026年1月2日 12:12:52 CST", "2026-01-02T04:12:52Z"),
            ("2 Jan 2026, 14:12:52 IST", "2026-01-02T12:12:52Z"),
        ];
        for (line, expected) in table {
            assert_eq!(read_date(line, hints), LineDate::At(expected.parse().unwrap()), "{line}");
        }
    }
}
