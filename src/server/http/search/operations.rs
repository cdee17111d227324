//! How the API describes the search.

use crate::server::http::openapi::operation::Operation;
use crate::server::http::search::{SearchBody, SearchQuery};

pub fn search(operation: Operation) -> Operation {
    operation
        .of("Search", "search", "Finds words in everything that was said and written.")
        .note(
            "Every word must be there, letter for letter, in any case, with or without accents; signs mean \
                 themselves. A word is found where a word of the text begins; the last one may go on. Words in scripts \
                 without spaces are found anywhere. `marks` are half-open ranges in Unicode scalar values.",
        )
        .query::<SearchQuery>()
        .gives::<SearchBody>(200, "A page of what was found.")
}
