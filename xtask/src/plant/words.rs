//! What is said in a chat for tests: every message says its own number, so that it can be looked for, and replies are of
//! all lengths.

use std::fmt::Write as _;

/// Question and answer number `n`; every fourth answer has code.
pub fn of_exchange(n: usize) -> (String, String) {
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
