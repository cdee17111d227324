//! A generated Markdown answer in pieces of a few characters, with every construct that is expensive to render.

/// The last words of an answer, outside of all open constructs.
pub const END: &str = "END OF ANSWER";

/// The characters of a piece, about those of a token.
const PIECE: usize = 6;

/// Returns one section of the answer.
fn section(number: usize) -> String {
    format!(
        "## Part {number}: what a reply is made of\n\n\
         A reply is a row of **blocks**, and each of them is written *at its end*: what stands stays. A word of code \
         such as `append()` or a [link](https://example.invalid/{number}) is one when its last mark has come.\n\n\
         - first the words\n- then what was thought\n  1. and in it\n  2. what was called\n\n\
         | block | bytes | kept |\n| :---- | ----: | :--: |\n| text | {number} | yes |\n| thinking | {number}0 | yes |\n\n\
         ```rust\n\
         // Part {number}.\n\
         async fn write(mut from: Stream, to: &Log) -> Result<usize, Failure> {{\n    \
             let mut written = {number}usize;\n    \
             while let Some(piece) = from.next().await {{\n        \
                 written += to.append(piece?).await?;\n    \
             }}\n    \
             Ok(written)\n\
         }}\n\
         ```\n\n\
         > What was said in part {number}, with a formula: $x_{number}^2 = y^2 + {number}$.\n\n"
    )
}

/// Returns `count` pieces. The last one closes open constructs and ends with [`END`].
pub fn pieces(count: usize) -> Vec<String> {
    let mut pieces = Vec::with_capacity(count);
    for number in 1.. {
        let text = section(number);
        let letters: Vec<char> = text.chars().collect();
        pieces.extend(letters.chunks(PIECE).map(|piece| piece.iter().collect::<String>()));
        if pieces.len() >= count {
            break;
        }
    }
    pieces.truncate(count.saturating_sub(1));
    let fences = pieces.concat().matches("```").count();
    let fence = if fences % 2 == 1 { "\n```" } else { "" };
    pieces.push(format!("{fence}\n\n{END}\n"));
    pieces
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_match_requested_count_and_close_code_blocks() {
        for count in [1, 2, 100, 777, 3_000] {
            let pieces = pieces(count);
            assert_eq!(pieces.len(), count);
            let text = pieces.concat();
            assert_eq!(text.matches("```").count() % 2, 0, "{count}");
            assert!(text.trim_end().ends_with(END));
        }
    }
}
