//! The words that the drawn text adds of its own.

pub const COPY: &str = "Copy";
pub const COPY_CODE: &str = "Copy code";
pub const CODE: &str = "Code";
pub const TABLE: &str = "Table";
pub const IMAGE: &str = "Image";
pub const DONE: &str = "done";
pub const NOT_DONE: &str = "not done";
pub const TOO_DEEP: &str = "Shown as plain text: it is nested too deeply.";
pub const TOO_LARGE: &str = "Shown as plain text from here: there is too much formatting.";

/// The name of a mark that leads to a source.
pub fn source(number: usize) -> String {
    format!("Source {number}")
}

/// The name of the link on the card of an image.
pub fn open_image(host: &str) -> String {
    format!("Open image at {host}")
}

/// The name of a block of code for those who cannot see its label.
pub fn code_in(language: &str) -> String {
    format!("{CODE}, {language}")
}
