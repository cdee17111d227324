//! Formats of quantities in both languages: counts, tokens, sizes, durations and line ranges. Every page uses these, so
//! that a quantity looks the same everywhere.

use crate::domain::text::byte_size::ByteSize;
use crate::domain::text::elapsed::format_elapsed;
use crate::domain::text::plural::group_thousands;
use crate::ui::locale::{localized_sentence, localized_word, message, plural_message};

/// Formats a number with grouped thousands: "1,204".
pub fn number(number: u64) -> String {
    group_thousands(number)
}

/// Formats a count of tokens: "340", "1.2k", "38k", "1.2M".
pub fn short_count(count: u64) -> String {
    let (unit, letter) = match count {
        0..1_000 => return count.to_string(),
        1_000..999_500 => (1_000, 'k'),
        _ => (1_000_000, 'M'),
    };
    let tenths = (count + unit / 20) / (unit / 10);
    match (tenths / 10, tenths % 10) {
        (whole, tenth) if whole < 10 && tenth > 0 => format!("{whole}.{tenth}{letter}"),
        (0..10, _) => format!("{}{letter}", tenths / 10),
        _ => format!("{}{letter}", (count + unit / 2) / unit),
    }
}

/// Formats a number of tokens: "1 token", "340 tokens", "1.2k tokens".
pub fn tokens(count: u64) -> String {
    let short = short_count(count);
    plural_message!(count; "1 token", "{short} tokens"; "{short} token")
}

/// Formats a size: "512 B", "12 KiB", "3.2 MiB".
pub fn size(bytes: u64) -> String {
    ByteSize(bytes).rounded()
}

/// Formats whole seconds: "12 s", "1 min 5 s", "2 h 3 min".
pub fn seconds(seconds: u64) -> String {
    localized_sentence(|| format_elapsed(seconds, ["h", "min", "s"]), || format_elapsed(seconds, ["小时", "分", "秒"]))
}

/// Formats a measured time: tenths below ten seconds, whole seconds above.
pub fn measured_time(ms: u64) -> String {
    let (whole, tenth) = ((ms + 50) / 1000, (ms + 50) % 1000 / 100);
    match ms {
        0..50 => localized_word("<0.1 s", "<0.1 秒").to_owned(),
        50..9_950 => message!("{whole}.{tenth} s", "{whole}.{tenth} 秒"),
        _ => seconds((ms + 500) / 1000),
    }
}

/// The remaining time until a retry, in whole seconds: it is counted down.
pub fn next_try(wait: u64) -> String {
    let wait = seconds(wait);
    message!("Retrying in {wait}.", "{wait}后重试。")
}

/// Formats a line range of a document: "line 3", "lines 3–9".
pub fn line_range((first, last): (u64, u64)) -> String {
    if first == last {
        message!("line {first}", "第 {first} 行")
    } else {
        message!("lines {first}–{last}", "第 {first}–{last} 行")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_written_as_people_say_them() {
        for (s, words) in
            [(0, "0 s"), (12, "12 s"), (60, "1 min"), (65, "1 min 5 s"), (3_600, "1 h"), (3_725, "1 h 2 min")]
        {
            assert_eq!(seconds(s), words);
        }
        for (ms, words) in [
            (0, "<0.1 s"),
            (50, "0.1 s"),
            (849, "0.8 s"),
            (850, "0.9 s"),
            (9_949, "9.9 s"),
            (9_950, "10 s"),
            (60_000, "1 min"),
        ] {
            assert_eq!(measured_time(ms), words, "{ms}");
        }
    }

    #[test]
    fn counts_are_short_and_never_longer_than_five_characters() {
        for (count, text) in [
            (0, "0"),
            (999, "999"),
            (1_000, "1k"),
            (1_049, "1k"),
            (1_050, "1.1k"),
            (1_204, "1.2k"),
            (9_949, "9.9k"),
            (9_960, "10k"),
            (38_400, "38k"),
            (38_500, "39k"),
            (200_000, "200k"),
            (999_499, "999k"),
            (999_500, "1M"),
            (1_048_576, "1M"),
            (1_250_000, "1.3M"),
            (12_400_000, "12M"),
        ] {
            assert_eq!(short_count(count), text, "{count}");
        }
    }

    #[test]
    fn quantities_have_singular() {
        assert_eq!([tokens(1), tokens(2), tokens(1_250)], ["1 token", "2 tokens", "1.3k tokens"]);
        assert_eq!([line_range((3, 3)), line_range((3, 9))], ["line 3", "lines 3–9"]);
    }
}
