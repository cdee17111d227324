//! Splits a part into pieces that begin with a marker, such as the entries of a log in HTML.

use std::io::BufRead;

use memchr::memmem::Finder;

use super::Input;
use super::bounded_reader::import_error;
use crate::bounds;
use crate::sink::ImportError;

/// The callback for pieces; `None` stands for one over [`bounds::CONVERSATION_BYTES`].
pub(crate) type PieceVisitor<'a> = &'a mut dyn FnMut(Option<&str>) -> Result<(), ImportError>;

impl Input {
    /// Passes on the pieces of a part, each from a marker to the next one; what is before the first marker is skipped.
    /// Returns their number.
    ///
    /// # Errors
    /// The part cannot be read to its end, or `visit` fails.
    pub(crate) fn for_each_piece(
        &mut self,
        part: usize,
        marker: &[u8],
        visit: PieceVisitor<'_>,
    ) -> Result<u64, ImportError> {
        let mut text = self.open_text(part)?;
        let finder = Finder::new(marker);
        // A marker may be cut at the end of a chunk.
        let beginning = marker.len().saturating_sub(1);
        let (mut held, mut searched) = (Vec::new(), 0);
        let (mut is_open, mut is_over, mut count) = (false, false, 0);
        loop {
            let chunk = text.fill_buf().map_err(import_error)?;
            let length = chunk.len();
            held.extend_from_slice(chunk);
            text.consume(length);
            let mut start = 0;
            while let Some(at) = finder.find(&held[searched..]).map(|at| searched + at) {
                if is_open {
                    count += 1;
                    give(&held[start..at], is_over, visit)?;
                }
                (start, searched) = (at, at + marker.len());
                (is_open, is_over) = (true, false);
            }
            if length == 0 {
                if is_open {
                    count += 1;
                    give(&held[start..], is_over, visit)?;
                }
                return Ok(count);
            }
            held.drain(..start);
            is_over |= is_open && held.len() > bounds::CONVERSATION_BYTES;
            if !is_open || is_over {
                held.drain(..held.len().saturating_sub(beginning));
            }
            // The marker of the open piece is not searched again.
            let own_marker = if is_open && !is_over { marker.len() } else { 0 };
            searched = held.len().saturating_sub(beginning).max(own_marker);
        }
    }
}

fn give(piece: &[u8], is_over: bool, visit: PieceVisitor<'_>) -> Result<(), ImportError> {
    if is_over { visit(None) } else { visit(Some(&String::from_utf8_lossy(piece))) }
}

#[cfg(test)]
mod tests {
    use crate::test_support::open_input;

    #[test]
    fn pieces_begin_with_marker_wherever_chunks_end() {
        let long = format!("head {}", "x".repeat((64 << 10) - 7));
        let table = [
            ("", vec![]),
            ("no marker", vec![]),
            ("head<<a<<b", vec!["<<a", "<<b"]),
            ("<<", vec!["<<"]),
            ("<<<<a<", vec!["<<", "<<a<"]),
        ];
        for (rest, expected) in table {
            for head in ["", "h", long.as_str()] {
                let mut found: Vec<String> = Vec::new();
                let mut input = open_input(format!("{head}{rest}")).unwrap();
                let count = input
                    .for_each_piece(0, b"<<", &mut |piece| {
                        found.push(piece.unwrap().to_owned());
                        Ok(())
                    })
                    .unwrap();
                assert_eq!(found, expected, "{rest}");
                assert_eq!(count, expected.len() as u64, "{rest}");
            }
        }
    }
}
