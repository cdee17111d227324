//! A price that the configuration names: what it produces and the room `providers` computes with.

/// What one model of one provider costs, in US dollars a million tokens.
#[derive(Debug, Clone, PartialEq)]
pub struct ModelPrice {
    /// The provider's id, as in locks.
    pub provider: String,
    pub model: String,
    pub input: f64,
    pub output: f64,
    /// Of input that comes out of a cache; absent means that of other input.
    pub cache_read: Option<f64>,
    /// Of input that is put into a cache; absent means that of other input.
    pub cache_write: Option<f64>,
}
