//! The `[[prices]]` tables: prices of models that the built-in list does not have, or has wrongly for this account.

use crate::config::ConfigError;
use crate::config::file::PriceEntry;
use crate::price::ModelPrice;

/// A price in dollars per million tokens beyond which a misplaced decimal point is certain.
const LARGEST: f64 = 1e6;

/// Validates the tables.
///
/// # Errors
/// A price is invalid, or a model has two prices.
pub fn read(entries: Vec<PriceEntry>) -> Result<Vec<ModelPrice>, ConfigError> {
    let mut prices: Vec<ModelPrice> = Vec::with_capacity(entries.len());
    for entry in entries {
        let of = format!("the price of `{}` at provider `{}`", entry.model, entry.provider);
        if entry.provider.is_empty() || entry.model.is_empty() {
            return Err(ConfigError::new("a price needs a provider and a model"));
        }
        let parts = [
            ("input", Some(entry.input)),
            ("output", Some(entry.output)),
            ("cache_read", entry.cache_read),
            ("cache_write", entry.cache_write),
        ];
        for (name, value) in parts {
            if value.is_some_and(|value| !(0.0..=LARGEST).contains(&value)) {
                return Err(ConfigError::new(format!(
                    "{name} of {of} must be a dollar amount between 0 and {LARGEST}"
                )));
            }
        }
        if prices.iter().any(|known| known.provider == entry.provider && known.model == entry.model) {
            return Err(ConfigError::new(format!("{of} is set twice")));
        }
        prices.push(ModelPrice {
            provider: entry.provider,
            model: entry.model,
            input: entry.input,
            output: entry.output,
            cache_read: entry.cache_read,
            cache_write: entry.cache_write,
        });
    }
    Ok(prices)
}
