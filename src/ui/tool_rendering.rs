//! Rendering of tool arguments, tool results and sources with the writer of the Markdown renderer: nothing in them is
//! interpreted or loaded from elsewhere. The same on the server and in the browser.

mod arguments;
mod elicitation;
mod hidden_characters;
mod json;
mod link;
pub mod picture;
mod result;
mod sources;

pub use arguments::{all_arguments, arguments};
pub use elicitation::{elicitation_message, elicitations};
pub use hidden_characters::hidden_badge;
pub use result::{result, tail};
pub use sources::sources;

#[cfg(test)]
mod tests;
