//! Multipart forms: reading text fields, and passing on the text of a form whose body cannot be read twice.

use axum::extract::multipart::{Field, MultipartError};

use crate::domain::InvalidField;
use crate::domain::MessageCode;
use crate::server::http::response::problem::Problem;

/// The text that a person submitted with files. The body of such a form cannot be read twice, so its handler attaches
/// the text to the response, for the error page.
#[derive(Debug, Clone)]
pub struct SubmittedText(pub Vec<String>);

/// Reads a field that is no file, of at most `most` bytes.
pub async fn read_text_field(mut field: Field<'_>, most: usize) -> Result<String, Problem> {
    let mut all = Vec::new();
    while let Some(piece) = field.chunk().await.map_err(broken_form_problem)? {
        all.extend_from_slice(&piece);
        if all.len() > most {
            return Err(InvalidField::new(field.name().unwrap_or_default(), MessageCode::IsTooLong).into());
        }
    }
    String::from_utf8(all).map_err(|_| InvalidField::new("", MessageCode::FormNotUtf8).into())
}

/// Returns the error for a form with an unknown field.
pub fn unknown_field_problem() -> Problem {
    Problem::invalid(InvalidField::new("", MessageCode::UnknownFormField))
}

/// Returns the error for a form that is malformed or incomplete.
pub fn broken_form_problem(_: MultipartError) -> Problem {
    Problem::invalid(InvalidField::new("", MessageCode::BrokenForm))
}
