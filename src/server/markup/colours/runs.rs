//! The runs of a block of code while it is scanned.

use crate::ui::markdown::{ClassName, Run};

/// The runs so far.
#[derive(Default)]
pub(super) struct Runs(pub(super) Vec<Run>);

impl Runs {
    /// Adds a piece; one that looks like the piece before it joins it.
    pub(super) fn add(&mut self, bytes: usize, class: ClassName) {
        match self.0.last_mut().filter(|last| last.class == class) {
            Some(last) => last.bytes += bytes,
            None if bytes > 0 => self.0.push(Run { class, bytes }),
            None => {}
        }
    }
}
