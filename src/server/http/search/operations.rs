//! How the API describes the search.

use crate::server::http::openapi::operation::ApiOperation;
use crate::server::http::search::{SearchQuery, SearchResultPage};

pub fn search(operation: ApiOperation) -> ApiOperation {
    operation
        .describe("Search", "search", "Finds words in everything that was said and written.")
        .add_description(
            "Every word must be there, letter for letter, in any case, with or without accents; signs mean \
                 themselves. A word is found where a word of the text begins; the last one may go on. Words in scripts \
                 without spaces are found anywhere. `marks` are half-open ranges in Unicode scalar values.",
        )
        .query_parameters::<SearchQuery>()
        .response::<SearchResultPage>(200, "A page of what was found.")
}
