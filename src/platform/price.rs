//! Configured prices: the interface between the configuration and the room `providers`.

/// The price of one model of one provider, in US dollars per million tokens.
#[derive(Debug, Clone, PartialEq)]
pub struct ModelPrice {
    /// The provider's id, as in branch locks.
    pub provider: String,
    pub model: String,
    pub input: f64,
    pub output: f64,
    /// The price of cached input; if absent, that of other input.
    pub cache_read: Option<f64>,
    /// The price of input written to a cache; if absent, that of other input.
    pub cache_write: Option<f64>,
}
