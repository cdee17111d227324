//! Turns and the events that make them: exchanges, the reducer, frames of a stream, and the context of a request.

pub mod coalesce;
pub mod context;
pub mod continued_text;
pub mod event;
pub mod exchange;
pub mod fold;
pub mod frame;
pub mod turn;
pub mod user_input_wait;
