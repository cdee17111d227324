//! Tests of the renderer's guarantees: allowed markup for every text, and the same result however a text arrives.

pub mod allowed;
mod citations;
mod cjk;
mod formulas;
mod hostile;
mod html_tags;
mod links;
mod page;
mod rendering;
mod streaming;
