//! Long texts come into the page in groups and over several frames: a frame that makes thousands of elements is one in which
//! no key is answered (performance.md G12). What is not reached yet stays as it was.

use super::part::Part;

/// So many parts stand in one element. What is far away is not drawn (`transcript.css`), and the browser looks with each frame
/// whether each element of which that is said comes near: with each part by itself, some long replies on a page cost more than
/// what changes in it.
pub const GROUP: usize = 16;

/// How many parts one frame may make, and of how much markup in bytes: a few milliseconds of work.
const PARTS: usize = GROUP;
const BYTES: usize = 24 << 10;
/// The first of a text are laid out wherever they are (`transcript.css`), and most are seen: a frame makes fewer.
const SEEN: usize = 2 * GROUP;
const SEEN_PARTS: usize = 8;

/// How many of the parts that are wanted the next frame shows, after one that showed parts with these fingerprints. A part
/// alone is made whatever its size.
pub fn reach(shown: &[u64], wanted: &[Part]) -> usize {
    let most = if shown.len() < SEEN { SEEN_PARTS } else { PARTS };
    let (mut parts, mut bytes) = (0, 0);
    let is_too_much = |(at, part): (usize, &Part)| {
        if shown.get(at) == Some(&part.fingerprint()) {
            return false;
        }
        parts += 1;
        bytes += part.markup().as_str().len();
        parts > 1 && (parts > most || bytes > BYTES)
    };
    wanted.iter().enumerate().position(is_too_much).unwrap_or(wanted.len())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ui::markdown::render;

    fn parts(texts: impl IntoIterator<Item = String>) -> Vec<Part> {
        texts.into_iter().flat_map(|text| render(&text)).collect()
    }

    fn numbered(count: usize) -> Vec<Part> {
        parts((0..count).map(|number| format!("Part {number}")))
    }

    fn reach_of(shown: &[Part], wanted: &[Part]) -> usize {
        reach(&shown.iter().map(Part::fingerprint).collect::<Vec<_>>(), wanted)
    }

    #[test]
    fn a_short_text_comes_at_once() {
        for (shown, wanted) in [(0, 0), (0, 3), (3, 0), (2, 2 + SEEN_PARTS), (SEEN, SEEN + PARTS), (90, 50)] {
            assert_eq!(reach_of(&numbered(shown), &numbered(wanted)), wanted, "{shown} {wanted}");
        }
    }

    #[test]
    fn a_long_text_comes_in_steps_from_its_beginning() {
        let wanted = numbered(SEEN + PARTS + 5);
        for (shown, reached) in [
            (0, SEEN_PARTS),
            (SEEN_PARTS, 2 * SEEN_PARTS),
            (SEEN - 1, SEEN - 1 + SEEN_PARTS),
            (SEEN, SEEN + PARTS),
            (SEEN + PARTS, wanted.len()),
        ] {
            assert_eq!(reach_of(&wanted[..shown], &wanted), reached, "{shown}");
        }
    }

    #[test]
    fn only_what_is_drawn_anew_counts() {
        let shown = numbered(3 * PARTS);
        let wanted = parts((0..3 * PARTS).map(|number| match number % 2 {
            0 => format!("Part {number}"),
            _ => format!("*Part* {number}"),
        }));
        // The part that would be one too many is the next odd one.
        let first = reach_of(&shown, &wanted);
        assert_eq!(first, 2 * PARTS + 1);
        let then: Vec<Part> = wanted[..first].iter().chain(&shown[first..]).cloned().collect();
        assert_eq!(reach_of(&then, &wanted), wanted.len());
    }

    #[test]
    fn large_parts_come_alone_and_none_is_too_large() {
        let wanted = parts((0..3).map(|_| "word ".repeat(BYTES / 4)));
        for known in 0..3 {
            assert_eq!(reach_of(&wanted[..known], &wanted), known + 1);
        }
    }
}
