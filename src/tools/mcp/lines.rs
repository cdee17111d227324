//! Bounded line reader for the output of programs, so that no line takes more memory than one message may.

use std::io;

use tokio::io::{AsyncBufRead, AsyncBufReadExt};

/// Bytes that are kept of each end of a line that is too long: enough to find the id of the call that it answers.
const END_BYTES: usize = 512;

/// A line without its line break.
#[derive(Debug, PartialEq, Eq)]
pub enum BoundedLine {
    Whole(Vec<u8>),
    /// The line exceeded the limit; only its two ends are kept.
    TooLong {
        head: Vec<u8>,
        tail: Vec<u8>,
    },
}

/// Reads line by line. An unterminated last line is dropped, because its writer did not finish it.
pub struct BoundedLines<R> {
    from: R,
    at_most: usize,
    line: Vec<u8>,
    /// The start of a line that is too long; `line` then holds its end.
    head: Option<Vec<u8>>,
}

impl<R: AsyncBufRead + Unpin> BoundedLines<R> {
    pub fn new(from: R, at_most: usize) -> Self {
        Self { from, at_most, line: Vec::new(), head: None }
    }

    /// Returns the next line, or `None` at the end of the stream.
    pub async fn next(&mut self) -> io::Result<Option<BoundedLine>> {
        loop {
            let piece = self.from.fill_buf().await?;
            if piece.is_empty() {
                return Ok(None);
            }
            let end = piece.iter().position(|byte| *byte == b'\n');
            let text = &piece[..end.unwrap_or(piece.len())];
            let taken = text.len() + usize::from(end.is_some());
            if self.head.is_none() && self.line.len() + text.len() > self.at_most {
                let mut head = std::mem::take(&mut self.line);
                // The tail starts with the bytes that are there, because the line may end within the next few.
                self.line = head[head.len().saturating_sub(END_BYTES)..].to_vec();
                head.truncate(END_BYTES);
                head.shrink_to_fit();
                self.head = Some(head);
            }
            if self.head.is_some() {
                self.line.extend_from_slice(&text[text.len().saturating_sub(END_BYTES)..]);
                let before_end = self.line.len().saturating_sub(END_BYTES);
                self.line.drain(..before_end);
            } else {
                self.line.extend_from_slice(text);
            }
            self.from.consume(taken);
            if end.is_some() {
                let line = std::mem::take(&mut self.line);
                return Ok(Some(match self.head.take() {
                    Some(head) => BoundedLine::TooLong { head, tail: line },
                    None => BoundedLine::Whole(line),
                }));
            }
        }
    }

    /// Returns the capacity that is held, in bytes.
    #[cfg(test)]
    fn held(&self) -> usize {
        self.line.capacity() + self.head.as_ref().map_or(0, Vec::capacity)
    }
}

#[cfg(test)]
mod tests {
    use tokio::io::{AsyncWriteExt, BufReader};

    use super::*;

    async fn lines_of(bytes: &[u8], at_most: usize) -> Vec<BoundedLine> {
        let mut lines = BoundedLines::new(BufReader::with_capacity(7, bytes), at_most);
        let mut out = Vec::new();
        while let Some(line) = lines.next().await.expect("memory does not fail") {
            out.push(line);
        }
        out
    }

    #[tokio::test]
    async fn finished_lines_are_read_and_unfinished_line_is_dropped() {
        let whole = |text: &str| BoundedLine::Whole(text.as_bytes().to_vec());
        let found = lines_of(b"one\ntwo two two two\n\n\xff\xfe\nnot finis", 100).await;
        assert_eq!(found, [whole("one"), whole("two two two two"), whole(""), BoundedLine::Whole(vec![0xff, 0xfe])]);
    }

    #[tokio::test]
    async fn too_long_line_keeps_both_ends_and_next_line_is_whole() {
        let long = format!("head{}tail", "x".repeat(5000));
        let found = lines_of(format!("{long}\nnext\n").as_bytes(), 1000).await;
        let BoundedLine::TooLong { head, tail } = &found[0] else { panic!("{found:?}") };
        assert!(head.starts_with(b"head") && head.len() <= END_BYTES, "{}", head.len());
        assert!(tail.ends_with(b"tail") && tail.len() <= END_BYTES, "{}", tail.len());
        assert_eq!(found[1], BoundedLine::Whole(b"next".to_vec()));
        assert_eq!(found.len(), 2);
    }

    #[tokio::test]
    async fn endless_line_uses_bounded_memory() {
        let (mut writer, reader) = tokio::io::duplex(64 << 10);
        let mut lines = BoundedLines::new(BufReader::new(reader), 1 << 20);
        let writing = tokio::spawn(async move {
            let piece = [b'x'; 64 << 10];
            for _ in 0..(200 << 20) / piece.len() {
                writer.write_all(&piece).await.expect("somebody reads");
            }
            writer.write_all(b"\n").await.expect("somebody reads");
        });
        let line = lines.next().await.expect("memory does not fail");
        assert!(matches!(line, Some(BoundedLine::TooLong { .. })));
        assert!(lines.held() <= 4 * END_BYTES, "{}", lines.held());
        writing.await.expect("it was written");
    }
}
