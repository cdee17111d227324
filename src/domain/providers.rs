//! Providers and models: their capabilities, the parameters that they are sent, and what their answers mean.

pub mod capabilities;
pub mod context_overflow;
pub mod params_resolution;
pub mod provider;
pub mod repair;
pub mod stop_reason;
