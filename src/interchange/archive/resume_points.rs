//! Finds where reading of a damaged archive can resume. Turnleaf starts a new line with each list and each element of
//! an archive and with nothing else, so these line starts are unambiguous. An archive rewritten by another program
//! has no such points.

use std::io::{self, BufRead, Read};

use super::LISTS;

/// The item that begins at a resume point.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ResumePoint {
    /// A list, by its index.
    List(usize),
    /// An element of the requested list.
    Element,
}

/// First bytes of the elements of each list.
const ELEMENTS: [&[u8]; 3] = [b"{\"sha256\":", b"{\"id\":", b"{\"chat\":"];
/// Longer than each of them, and than the beginning of a list.
const HEAD: usize = 16;

/// Returns the first resume point after this many bytes, with its offset. Only elements of the given list count.
pub(super) fn find_next(
    text: &mut impl BufRead,
    behind: u64,
    of: Option<usize>,
) -> io::Result<Option<(u64, ResumePoint)>> {
    let mut at = skip(text, behind)?;
    let mut head = Vec::with_capacity(HEAD);
    loop {
        // Skips the rest of the line.
        let (passed, is_end) = line_end(text)?;
        at += passed;
        if is_end {
            return Ok(None);
        }
        let begun = at;
        head.clear();
        while head.len() < HEAD {
            let chunk = text.fill_buf()?;
            let line = chunk.iter().take(HEAD - head.len()).take_while(|byte| **byte != b'\n').count();
            if line == 0 {
                break;
            }
            head.extend_from_slice(&chunk[..line]);
            text.consume(line);
            at += line as u64;
        }
        let list = LISTS.iter().position(|list| head.starts_with(format!("\"{list}\":[").as_bytes()));
        if let Some(list) = list {
            return Ok(Some((begun, ResumePoint::List(list))));
        }
        if of.is_some_and(|of| head.starts_with(ELEMENTS[of])) {
            return Ok(Some((begun, ResumePoint::Element)));
        }
    }
}

/// Skips bytes and returns how many there were.
pub(super) fn skip(text: &mut impl BufRead, bytes: u64) -> io::Result<u64> {
    io::copy(&mut Read::take(text, bytes), &mut io::sink())
}

fn line_end(text: &mut impl BufRead) -> io::Result<(u64, bool)> {
    let mut passed = 0;
    loop {
        let chunk = text.fill_buf()?;
        if chunk.is_empty() {
            return Ok((passed, true));
        }
        let end = memchr::memchr(b'\n', chunk);
        let length = end.map_or(chunk.len(), |end| end + 1);
        text.consume(length);
        passed += length as u64;
        if end.is_some() {
            return Ok((passed, false));
        }
    }
}

#[cfg(test)]
mod tests {
    use std::io::BufReader;

    use super::*;

    #[test]
    fn resume_points_are_found_only_at_line_starts() {
        let text = b"{\"format\":\"x\",\n\"blobs\":[\n{\"sha256\":\"\\n\\\"chats\\\":[\"},\n{\"id\":1}],\n \"chats\":[\n\"chats\":[\n{\"chat\":2}]}";
        for chunk in [1, 7, 100] {
            let next = |behind, of| find_next(&mut BufReader::with_capacity(chunk, &text[..]), behind, of).unwrap();
            let at = |words: &str| text.windows(words.len()).position(|of| of == words.as_bytes()).unwrap() as u64;
            assert_eq!(next(0, None), Some((at("\"blobs\""), ResumePoint::List(0))));
            assert_eq!(next(at("\"blobs\""), Some(0)), Some((at("{\"sha256\""), ResumePoint::Element)));
            assert_eq!(next(at("{\"sha256\""), Some(1)), Some((at("{\"id\""), ResumePoint::Element)));
            let list = at("\n\"chats\"") + 1;
            assert_eq!(next(at("{\"sha256\""), Some(0)), Some((list, ResumePoint::List(2))));
            assert_eq!(next(list, Some(2)), Some((at("{\"chat\""), ResumePoint::Element)));
            assert_eq!(next(list, None), None);
            assert_eq!(next(1_000, Some(2)), None);
        }
    }
}
