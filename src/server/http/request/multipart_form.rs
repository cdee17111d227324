//! Forms that bring files: the text in them, and what was written into one whose body is not read twice.

use axum::extract::multipart::{Field, MultipartError};

use crate::domain::InvalidField;
use crate::server::http::response::problem::Problem;

/// What somebody wrote into a form whose body is not read twice because files come with it: its handler says so.
#[derive(Debug, Clone)]
pub struct SubmittedText(pub Vec<String>);

/// The text of a field of a form that is no file.
pub async fn read_text_field(mut field: Field<'_>, most: usize) -> Result<String, Problem> {
    let mut all = Vec::new();
    while let Some(piece) = field.chunk().await.map_err(broken_form_problem)? {
        all.extend_from_slice(&piece);
        if all.len() > most {
            return Err(InvalidField::new(field.name().unwrap_or_default(), "is too long").into());
        }
    }
    String::from_utf8(all).map_err(|_| InvalidField::new("", "the form is not UTF-8").into())
}

/// A form with a field that it does not have.
pub fn unknown_field_problem() -> Problem {
    Problem::invalid(InvalidField::new("", "the form has no such field"))
}

/// A form that broke off.
pub fn broken_form_problem(_: MultipartError) -> Problem {
    Problem::invalid(InvalidField::new("", "the form is broken, or ended too soon"))
}
