//! The action that a form has done, in the query of the page to which it returns.

use serde::Deserialize;

use crate::server::server_pages::ActionNotice;

/// An action that a form of a page has done.
pub trait FormResult: Copy {
    /// Returns the sentence about the action.
    fn sentence(self) -> &'static str;

    /// Returns the notice about the action.
    fn notice(self) -> ActionNotice {
        ActionNotice::Done(self.sentence().to_owned())
    }
}

/// The query of a page to which forms return.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FormResultQuery<R> {
    /// The action that a form has done.
    done: Option<R>,
}

impl<R: FormResult> FormResultQuery<R> {
    /// Returns the notice about the action, if there was one.
    pub fn notice(self) -> Option<ActionNotice> {
        self.done.map(R::notice)
    }
}
