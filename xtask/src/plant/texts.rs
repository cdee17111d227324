//! The texts of generated chats: every message contains its number, so that it can be searched for, and replies have
//! all lengths.

use std::fmt::Write as _;

/// Returns question and answer number `n`; every fourth answer has code.
pub fn exchange_texts(n: usize) -> (String, String) {
    let question = format!("Question {n}: what grows in place {}?", n % 7);
    let mut answer = format!("Answer {n}. ");
    for paragraph in 0..=(n * 5 % 6) {
        let _ = write!(
            answer,
            "In place **{}** there grow {} trees, and a reader who scrolls past them sees leaves of every kind, one \
             below the other, until the path ends.\n\n",
            (n + paragraph) % 7,
            n + paragraph,
        );
    }
    if n % 4 == 3 {
        let _ = write!(answer, "```rust\nfn place_{n}() -> usize {{\n    {n}\n}}\n```\n");
    }
    (question, answer)
}

/// Returns a text of at least this many bytes, with the word frequencies of a language: few words are common, and
/// most are rare.
pub fn filler_text(number: usize, bytes: usize) -> String {
    const PARTS: [&str; 16] =
        ["a", "be", "ci", "do", "fu", "gra", "he", "li", "mo", "nu", "pra", "re", "sti", "to", "vu", "we"];
    const WORDS: f64 = 30_000.0;
    let mut chance = (number as u64 + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    let mut text = String::with_capacity(bytes + 16);
    while text.len() < bytes {
        chance ^= chance << 13;
        chance ^= chance >> 7;
        chance ^= chance << 17;
        let rank = WORDS.powf((chance % 1_000_000) as f64 / 1e6);
        let mut place = rank as usize + 16;
        while place > 0 {
            text.push_str(PARTS[place % 16]);
            place /= 16;
        }
        text.push(' ');
    }
    text
}
