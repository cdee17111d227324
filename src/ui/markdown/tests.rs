//! What the drawing promises: allowed markup for every text, the same result however a text arrives.

pub mod allowed;
mod citations;
mod hostile;
mod links;
mod page;
mod rendering;
mod streaming;
