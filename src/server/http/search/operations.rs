//! OpenAPI description of the search.

use crate::server::http::openapi::operation::ApiOperation;
use crate::server::http::search::{SearchQuery, SearchResultPage};

pub fn search(operation: ApiOperation) -> ApiOperation {
    operation
        .describe("Search", "search", "Searches all messages and documents.")
        .add_description(
            "Every word must match, ignoring case and accents; symbols match exactly. Words match at the start of a \
            word, and the last one may be incomplete. In scripts without spaces, words match anywhere. `marks` are \
            half-open ranges in Unicode scalar values.",
        )
        .query_parameters::<SearchQuery>()
        .response::<SearchResultPage>(200, "A page of results.")
}
