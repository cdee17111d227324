//! Token estimates of texts and blocks for manifests, cards and warnings, without a tokenizer.
//! [`crate::usage::token_counts`] has the counts of providers.

use crate::blocks::block::Content;

/// The estimate for an image of unknown size. Vendors' formulas give about 100 to 1600.
pub const IMAGE_TOKENS: u64 = 1_000;
/// A reference with its id and element; the document's text is counted where it is expanded.
const REFERENCE_TOKENS: u64 = 20;

/// Estimates the tokens of a block.
pub fn block_tokens(content: &Content) -> u64 {
    match content {
        Content::Text { text, .. } => approx_tokens(text),
        Content::Thinking { thinking, redacted, .. } => {
            approx_tokens(thinking) + redacted.as_deref().map_or(0, approx_tokens)
        }
        Content::ToolUse { tool_name, arguments, arguments_raw, .. } => {
            let arguments =
                arguments_raw.as_deref().map_or_else(|| approx_tokens(&arguments.to_string()), approx_tokens);
            approx_tokens(tool_name) + arguments
        }
        Content::ToolResult { result, .. } => match result.as_str() {
            Some(text) => approx_tokens(text),
            None => approx_tokens(&result.to_string()),
        },
        Content::Image { .. } => IMAGE_TOKENS,
        Content::Reference { .. } | Content::PartialReference { .. } => REFERENCE_TOKENS,
        // Opaque data: the length of a signature says nothing about its cost.
        Content::ThinkingSignature { .. } | Content::Other(_) => 0,
    }
}

/// Estimates the tokens of a text: one for each character of scripts without spaces (Han, kana, Hangul), one for
/// every four others, rounded up. Accurate to about a third; for warnings and manifests, never for billing.
pub fn approx_tokens(text: &str) -> u64 {
    // The fast path matters: every message estimates all texts of its path.
    if text.is_ascii() {
        return (text.len() as u64).div_ceil(4);
    }
    let (mut dense, mut other) = (0_u64, 0_u64);
    for c in text.chars() {
        if is_dense(c) {
            dense += 1;
        } else {
            other += 1;
        }
    }
    dense + other.div_ceil(4)
}

/// Returns true for characters of about one token each: CJK punctuation and kana, Han with its extensions, Hangul,
/// full-width forms.
fn is_dense(c: char) -> bool {
    matches!(c,
        '\u{3000}'..='\u{30ff}' | '\u{3400}'..='\u{4dbf}' | '\u{4e00}'..='\u{9fff}' | '\u{ac00}'..='\u{d7af}'
        | '\u{f900}'..='\u{faff}' | '\u{ff00}'..='\u{ffef}' | '\u{20000}'..='\u{3ffff}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tokens_are_estimated_by_script() {
        let table = [
            ("", 0),
            ("a", 1),
            ("four", 1),
            ("fives", 2),
            ("你好世界", 4),
            ("你好, abc", 4),
            ("안녕", 2),
            ("カナ。", 3),
        ];
        for (text, tokens) in table {
            assert_eq!(approx_tokens(text), tokens, "{text:?}");
        }
    }
}
