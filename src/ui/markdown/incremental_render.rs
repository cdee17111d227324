//! Incremental rendering of long texts: parts come into the page in groups and over several frames, because a frame
//! that creates thousands of elements blocks the input. Parts that are not reached yet stay as they were.

use super::part::MarkupPart;

/// The number of parts in one element. Distant elements are not rendered (`content-visibility` in `transcript.css`),
/// and the browser checks each such element in every frame: with each part by itself, some long replies on a page
/// cost more than the changes.
pub const GROUP_SIZE: usize = 16;

/// The number of parts and the bytes of markup that one frame may create: a few milliseconds of work.
const PARTS_PER_FRAME: usize = GROUP_SIZE;
const BYTES_PER_FRAME: usize = 24 << 10;
/// The first parts of a text are always laid out (`transcript.css`), and most are visible, so a frame creates fewer
/// of them.
const FIRST_PARTS: usize = 2 * GROUP_SIZE;
const FIRST_PARTS_PER_FRAME: usize = 8;

/// Returns how many of the wanted parts the next frame shows, after one that showed parts with these fingerprints. A
/// single part is created whatever its size.
pub fn next_frame_parts(shown: &[u64], wanted: &[MarkupPart]) -> usize {
    let most = if shown.len() < FIRST_PARTS { FIRST_PARTS_PER_FRAME } else { PARTS_PER_FRAME };
    let (mut parts, mut bytes) = (0, 0);
    let is_too_much = |(at, part): (usize, &MarkupPart)| {
        if shown.get(at) == Some(&part.fingerprint()) {
            return false;
        }
        parts += 1;
        bytes += part.markup().as_str().len();
        parts > 1 && (parts > most || bytes > BYTES_PER_FRAME)
    };
    wanted.iter().enumerate().position(is_too_much).unwrap_or(wanted.len())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ui::markdown::render;

    fn parts(texts: impl IntoIterator<Item = String>) -> Vec<MarkupPart> {
        texts.into_iter().flat_map(|text| render(&text)).collect()
    }

    fn numbered(count: usize) -> Vec<MarkupPart> {
        parts((0..count).map(|number| format!("Part {number}")))
    }

    fn parts_after_frame(shown: &[MarkupPart], wanted: &[MarkupPart]) -> usize {
        next_frame_parts(&shown.iter().map(MarkupPart::fingerprint).collect::<Vec<_>>(), wanted)
    }

    #[test]
    fn short_text_is_shown_at_once() {
        for (shown, wanted) in [
            (0, 0),
            (0, 3),
            (3, 0),
            (2, 2 + FIRST_PARTS_PER_FRAME),
            (FIRST_PARTS, FIRST_PARTS + PARTS_PER_FRAME),
            (90, 50),
        ] {
            assert_eq!(parts_after_frame(&numbered(shown), &numbered(wanted)), wanted, "{shown} {wanted}");
        }
    }

    #[test]
    fn long_text_is_shown_in_steps_from_its_beginning() {
        let wanted = numbered(FIRST_PARTS + PARTS_PER_FRAME + 5);
        for (shown, reached) in [
            (0, FIRST_PARTS_PER_FRAME),
            (FIRST_PARTS_PER_FRAME, 2 * FIRST_PARTS_PER_FRAME),
            (FIRST_PARTS - 1, FIRST_PARTS - 1 + FIRST_PARTS_PER_FRAME),
            (FIRST_PARTS, FIRST_PARTS + PARTS_PER_FRAME),
            (FIRST_PARTS + PARTS_PER_FRAME, wanted.len()),
        ] {
            assert_eq!(parts_after_frame(&wanted[..shown], &wanted), reached, "{shown}");
        }
    }

    #[test]
    fn only_changed_parts_count() {
        let shown = numbered(3 * PARTS_PER_FRAME);
        let wanted = parts((0..3 * PARTS_PER_FRAME).map(|number| match number % 2 {
            0 => format!("Part {number}"),
            _ => format!("*Part* {number}"),
        }));
        // The part beyond the limit is the next odd one.
        let first = parts_after_frame(&shown, &wanted);
        assert_eq!(first, 2 * PARTS_PER_FRAME + 1);
        let then: Vec<MarkupPart> = wanted[..first].iter().chain(&shown[first..]).cloned().collect();
        assert_eq!(parts_after_frame(&then, &wanted), wanted.len());
    }

    #[test]
    fn large_parts_are_shown_alone_and_none_is_too_large() {
        let wanted = parts((0..3).map(|_| "word ".repeat(BYTES_PER_FRAME / 4)));
        for known in 0..3 {
            assert_eq!(parts_after_frame(&wanted[..known], &wanted), known + 1);
        }
    }
}
