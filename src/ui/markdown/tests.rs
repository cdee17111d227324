//! What the drawing promises: allowed markup for every text, the same result however a text arrives.

pub mod allowed;
mod cites;
mod growing;
mod hostile;
mod links;
mod looks;
mod page;
