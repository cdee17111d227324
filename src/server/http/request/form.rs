//! Forms that bring files: the text in them, and what was written into one whose body is not read twice.

use axum::extract::multipart::{Field, MultipartError};

use crate::domain::Invalid;
use crate::server::http::response::problem::Problem;

/// What somebody wrote into a form whose body is not read twice because files come with it: its handler says so.
#[derive(Debug, Clone)]
pub struct Written(pub Vec<String>);

/// The text of a field of a form that is no file.
pub async fn text_of(mut field: Field<'_>, most: usize) -> Result<String, Problem> {
    let mut all = Vec::new();
    while let Some(piece) = field.chunk().await.map_err(broken)? {
        all.extend_from_slice(&piece);
        if all.len() > most {
            return Err(Invalid::new(field.name().unwrap_or_default(), "is too long").into());
        }
    }
    String::from_utf8(all).map_err(|_| Invalid::new("", "the form is not UTF-8").into())
}

/// A form with a field that it does not have.
pub fn unknown_field() -> Problem {
    Problem::invalid(Invalid::new("", "the form has no such field"))
}

/// A form that broke off.
pub fn broken(_: MultipartError) -> Problem {
    Problem::invalid(Invalid::new("", "the form is broken, or ended too soon"))
}
