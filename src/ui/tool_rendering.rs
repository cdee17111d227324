//! What tools are asked and what they gave, and what a reply refers to, drawn by the writer that drawn text has too: no
//! life of its own, nothing interpreted, nothing loaded from elsewhere. The same on the server and in the browser.

mod arguments;
mod hidden_characters;
mod json;
mod link;
pub mod picture;
mod result;
mod sources;

pub use arguments::{all_arguments, arguments};
pub use hidden_characters::hidden_badge;
pub use result::{result, tail};
pub use sources::sources;

#[cfg(test)]
mod tests;
