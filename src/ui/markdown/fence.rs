//! Incremental rendering of an open code fence: the one long block that can grow without the parser.

use std::ops::ControlFlow;

use super::draw;
use super::part::MarkupPart;

/// The opening line of a fenced block at the top level, without leading spaces.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fence {
    mark: char,
    length: usize,
}

impl Fence {
    /// Parses a complete opening line. `None` if it is not one, or one of the rarer kinds.
    pub fn from_opening_line(line: &str) -> Option<Self> {
        let mark = line.chars().next().filter(|mark| matches!(mark, '`' | '~'))?;
        let length = line.len() - line.trim_start_matches(mark).len();
        let info = &line[length..];
        (length >= 3 && !(mark == '`' && info.contains('`'))).then_some(Self { mark, length })
    }

    /// Returns whether this line, with or without its end, closes the block.
    pub fn is_closed_by(&self, line: &str) -> bool {
        let line = line.trim_end_matches(['\n', '\r']);
        let text = line.trim_start_matches(' ');
        let rest = text.trim_start_matches(self.mark);
        line.len() - text.len() <= 3
            && text.len() - rest.len() >= self.length
            && rest.trim_matches([' ', '\t']).is_empty()
    }
}

/// A fenced block that has not been closed yet.
#[derive(Debug)]
pub struct OpenFence {
    fence: Fence,
    language: String,
    /// The escaped lines up to `read`.
    body: String,
    read: usize,
}

impl OpenFence {
    /// Takes a tail that starts with an opening line and has no closing line. `None` otherwise.
    pub fn new(tail: &str) -> Option<Self> {
        let (opening, _) = tail.split_once('\n')?;
        let fence = Fence::from_opening_line(opening)?;
        let info = &opening[fence.length..];
        // The parser would resolve entities and escapes in the info string.
        if info.contains(['&', '\\']) {
            return None;
        }
        let mut open =
            Self { fence, language: draw::info_string_language(info), body: String::new(), read: opening.len() + 1 };
        open.read_new_lines(tail).is_continue().then_some(open)
    }

    /// Reads the new complete lines. Breaks when the parser is needed again: the block has been closed, or contains
    /// syntax that only the parser can read.
    pub fn read_new_lines(&mut self, tail: &str) -> ControlFlow<()> {
        let fresh = &tail[self.read..];
        if fresh.contains(['\r', '\0']) {
            return ControlFlow::Break(());
        }
        let complete = fresh.rfind('\n').map_or(0, |at| at + 1);
        if fresh[..complete].split_inclusive('\n').any(|line| self.fence.is_closed_by(line)) {
            return ControlFlow::Break(());
        }
        super::html::escape(&fresh[..complete], &mut self.body);
        self.read += complete;
        ControlFlow::Continue(())
    }

    /// Returns the block as it is now. A last line that would close it, or may be the indent of a closing line, is
    /// not shown as code.
    pub fn part(&self, tail: &str) -> MarkupPart {
        let is_shown = |line: &&str| !self.fence.is_closed_by(line) && !matches!(*line, " " | "  " | "   ");
        let last = Some(&tail[self.read..]).filter(is_shown).unwrap_or_default();
        draw::draw_open_code(&self.language, &self.body, last)
    }
}
