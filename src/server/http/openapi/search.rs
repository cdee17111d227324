//! Searching.

use super::operation::{Operation, operation};
use crate::server::http::search::{SearchBody, SearchQuery};

pub fn operations() -> Vec<Operation> {
    vec![
        operation("get", "/api/search", ("Search", "search"), "Finds words in everything that was said and written.")
            .note(
                "Every word must be there, letter for letter, in any case, with or without accents; signs mean \
                 themselves. A word is found where a word of the text begins; the last one may go on. Words in scripts \
                 without spaces are found anywhere. `marks` are half-open ranges in Unicode scalar values.",
            )
            .query::<SearchQuery>()
            .gives::<SearchBody>(200, "A page of what was found."),
    ]
}
