//! What the page of the HTTP API says.

pub const DOCUMENT: &str = "The same for programs (OpenAPI 3.1, JSON)";
pub const CONTENTS: &str = "Contents";
pub const PARAMETERS: &str = "Parameters";
pub const BODY: &str = "Body";
pub const ANSWERS: &str = "Answers";
pub const SHAPES: &str = "Shapes";
pub const FIELDS: &str = "Fields";
pub const NAME: &str = "Name";
pub const PLACE: &str = "In";
pub const KIND: &str = "Kind";
pub const MEANING: &str = "Meaning";
pub const STATUS: &str = "Status";
pub const SHAPE: &str = "Shape";
pub const THERE: &str = "There";
pub const NEEDED: &str = "(needed)";
pub const ALWAYS: &str = "always";
pub const MAY_BE_LEFT_OUT: &str = "(may be left out)";
pub const DEPRECATED: &str = "Deprecated: for older clients.";
pub const ALL_OF: &str = "All of";
pub const LIST_OF: &str = "list of";
pub const ANYTHING: &str = "any JSON";

/// Where a parameter stands.
pub fn place(name: &str) -> &'static str {
    match name {
        "path" => "path",
        "query" => "query",
        _ => "header",
    }
}

pub fn at_most_characters(most: u64) -> String {
    format!("at most {most} characters")
}
