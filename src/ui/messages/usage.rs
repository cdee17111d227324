//! Formats of tokens and money: short, the same in the transcript, in the composer and on the usage page, in both
//! languages. Unknown is a dash, never 0.

use super::amounts::short_count;
use crate::domain::{Cost, Usage};
use crate::ui::locale::{define_messages, message};

pub const UNKNOWN: &str = "—";
define_messages! {
    context_in_use: "Context in use", "已用上下文";
    context_nearly_full: "This chat is close to the model's context limit.", "此对话已接近该模型的上下文上限。";
    context_full: "This chat exceeds the model's context limit. Start a new chat, branch from an earlier message, or \
        choose a model with a larger context.", "此对话已超出该模型的上下文上限。请新建对话、从更早的消息新建分支，或选择上下文更大的模型。";
}

/// Formats an amount: "$12.35", "$0.045", "$0.0004"; smaller amounts have more digits.
pub fn dollars(micros: u64) -> String {
    // The unit of the last digit, in millionths, and the number of decimal places.
    let (unit, places) = match micros {
        0 => return "$0".to_owned(),
        1..50 => return "<$0.0001".to_owned(),
        50..9_950 => (100, 4),
        9_950..999_500 => (1_000, 3),
        _ => (10_000, 2),
    };
    let rounded = (micros.saturating_add(unit / 2)) / unit;
    let scale = 10_u64.pow(places);
    let (whole, rest) = (rounded / scale, rounded % scale);
    let digits = format!("{rest:0places$}", places = places as usize);
    match digits.trim_end_matches('0') {
        "" if places > 2 => format!("${whole}"),
        short if places > 2 => format!("${whole}.{short}"),
        _ => format!("${whole}.{digits}"),
    }
}

/// A cost; computed costs are marked.
pub fn cost(cost: Cost) -> String {
    let amount = dollars(cost.micros);
    if cost.is_estimated { format!("≈ {amount}") } else { amount }
}

/// Formats the usage: "1.2k in · 340 out"; none where both are unknown.
pub fn in_and_out(usage: &Usage) -> Option<String> {
    let part = |count: Option<u64>| count.map_or_else(|| UNKNOWN.to_owned(), short_count);
    let (input, output) = (part(usage.input_tokens), part(usage.output_tokens));
    (usage.input_tokens.is_some() || usage.output_tokens.is_some())
        .then(|| message!("{input} in · {output} out", "输入 {input} · 输出 {output}"))
}

/// The filled part of the context: "≈ 38k of 200k tokens".
pub fn context(used: u64, of: u64) -> String {
    let (used, of) = (short_count(used), short_count(of));
    message!("≈ {used} of {of} tokens", "≈ {used} / {of} token")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn small_amounts_keep_their_digits_and_large_ones_their_cents() {
        for (micros, text) in [
            (0, "$0"),
            (1, "<$0.0001"),
            (49, "<$0.0001"),
            (50, "$0.0001"),
            (420, "$0.0004"),
            (4_012, "$0.004"),
            (4_060, "$0.0041"),
            (9_949, "$0.0099"),
            (9_960, "$0.01"),
            (45_400, "$0.045"),
            (999_499, "$0.999"),
            (999_500, "$1.00"),
            (1_000_000, "$1.00"),
            (12_345_678, "$12.35"),
            (u64::MAX, "$18446744073709.55"),
        ] {
            assert_eq!(dollars(micros), text, "{micros}");
        }
        assert_eq!(cost(Cost { micros: 4_012, is_estimated: true }), "≈ $0.004");
        assert_eq!(cost(Cost { micros: 4_012, is_estimated: false }), "$0.004");
    }

    #[test]
    fn unknown_count_is_dash() {
        let usage = |input_tokens, output_tokens| Usage { input_tokens, output_tokens, ..Usage::default() };
        for (usage, text) in [
            (usage(Some(1_204), Some(340)), Some("1.2k in · 340 out")),
            (usage(Some(0), None), Some("0 in · — out")),
            (usage(None, Some(1)), Some("— in · 1 out")),
            (usage(None, None), None),
        ] {
            assert_eq!(in_and_out(&usage).as_deref(), text, "{usage:?}");
        }
        assert_eq!(context(38_400, 200_000), "≈ 38k of 200k tokens");
    }
}
