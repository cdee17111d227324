//! The runs of a code block during a scan.

use crate::ui::markdown::{CodeClass, CodeRun};

/// The runs so far.
#[derive(Default)]
pub(super) struct HighlightRuns(pub(super) Vec<CodeRun>);

impl HighlightRuns {
    /// Adds a run; adjacent runs of the same class are merged.
    pub(super) fn push(&mut self, bytes: usize, class: CodeClass) {
        match self.0.last_mut().filter(|last| last.class == class) {
            Some(last) => last.bytes += bytes,
            None if bytes > 0 => self.0.push(CodeRun { class, bytes }),
            None => {}
        }
    }
}
