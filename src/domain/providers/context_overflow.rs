//! Context overflow errors: extracts the token counts from a provider's error message. Every provider words it
//! differently.

/// Smaller numbers are not conversation lengths.
const LEAST: u64 = 256;

/// Returns the tokens of the conversation and the allowed maximum, if the message states both.
pub fn parse_token_counts(message: &str) -> Option<(u64, u64)> {
    let (used, most) = match message.split_once('>') {
        // "188240 + 21333 > 200000", "210000 tokens > 200000 maximum"
        Some((before, behind)) => {
            let sum = before.rsplit(':').next().map(numbers)?;
            (sum.into_iter().reduce(u64::saturating_add)?, *numbers(behind).first()?)
        }
        None => {
            let found = numbers(message);
            let (first, second) = (*found.first()?, *found.get(1)?);
            let begin = message.find(|c: char| c.is_ascii_digit()).unwrap_or(0);
            let names_most_first = message[..begin].to_ascii_lowercase().contains("maximum");
            if names_most_first { (second, first) } else { (first, second) }
        }
    };
    // An unknown wording may have unrelated numbers, so only a plausible pair counts.
    (used > most).then_some((used, most))
}

/// Returns the numbers of a text, except those that are part of a word.
fn numbers(text: &str) -> Vec<u64> {
    let is_of_number = |c: char| c.is_ascii_alphanumeric() || matches!(c, ',' | '_' | '-' | '.');
    let words = text.split(|c: char| !is_of_number(c)).map(|word| word.trim_matches([',', '.', '-', '_']));
    let number = |word: &str| {
        let digits = word.replace([',', '_'], "");
        digits.parse::<u64>().ok().filter(|number| *number >= LEAST)
    };
    words.filter_map(number).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn token_counts_are_parsed_from_provider_messages() {
        for (message, expected) in [
            (
                "This model's maximum context length is 128000 tokens. However, your messages resulted in 210000 tokens. \
                 Please reduce the length of the messages.",
                Some((210_000, 128_000)),
            ),
            (
                "This endpoint's maximum context length is 200,000 tokens. However, you requested about 215,000 tokens \
                 (205000 of text input, 10000 in the output).",
                Some((215_000, 200_000)),
            ),
            ("prompt is too long: 210000 tokens > 200000 maximum", Some((210_000, 200_000))),
            (
                "input length and `max_tokens` exceed context limit: 188240 + 21333 > 200000, decrease input length",
                Some((209_573, 200_000)),
            ),
            (
                "The input token count (1200000) exceeds the maximum number of tokens allowed (1048576).",
                Some((1_200_000, 1_048_576)),
            ),
            (
                "request (9000 tokens) exceeds the available context size (8192 tokens), try increasing it",
                Some((9_000, 8_192)),
            ),
            (
                "Prompt contains 40000 tokens and 0 draft tokens, too large for model with 32768 maximum context length",
                Some((40_000, 32_768)),
            ),
            ("Your input exceeds the context window of this model.", None),
            ("It answered with status 413.", None),
            ("The model gpt-4-32768 reads 8192 tokens.", None),
            ("The maximum is 8192 tokens; 4096 were asked for.", None),
            ("", None),
        ] {
            assert_eq!(parse_token_counts(message), expected, "{message}");
        }
    }
}
