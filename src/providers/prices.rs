//! Prices: the cost of replies for which the provider reported none, computed from token counts. Configured prices
//! come first, then the list of the crate `genai-prices`, in which an endpoint is found by its URL: a local server is
//! not priced, whatever its models are called. All prices are estimates: discounts, tiers and the fees of provider
//! tools are not in the counts.

use std::io::Read;
use std::sync::LazyLock;

use brotli_decompressor::Decompressor;
use chrono::{DateTime, Utc};
use genai_prices::{Calculator, PriceRequest, UsageKey};

use crate::reported_cost::round_micros;
use turnleaf_domain::{Charge, CostBasis, Usage};
use turnleaf_platform::price::ModelPrice;

/// Name and version of the price list, stored with each cost that it determined.
pub const PRICE_LIST: &str = "genai-prices 0.2.1";

/// The list of the crate, compressed (`cargo xtask prices`): the crate's own copy would be a fiftieth of the binary.
const COMPRESSED_LIST: &[u8] = include_bytes!("prices/list.json.br");

/// Returns the price list, which the first use decompresses and parses. `None` if it cannot be read, which tests
/// exclude: then replies have no cost.
fn price_list() -> Option<&'static Calculator> {
    static LIST: LazyLock<Option<Calculator>> = LazyLock::new(|| {
        let mut list = Vec::new();
        Decompressor::new(COMPRESSED_LIST, 4096).read_to_end(&mut list).ok()?;
        Calculator::from_json(&list).inspect_err(|error| tracing::error!(%error, "the price list is damaged")).ok()
    });
    LIST.as_ref()
}

/// The prices that this server knows.
#[derive(Debug, Clone, Default)]
pub struct Prices {
    configured: Vec<ModelPrice>,
}

/// A provider call to be priced.
#[derive(Debug, Clone)]
pub struct BillableCall {
    /// The provider's id.
    pub provider: String,
    /// The base URL; `None` for stand-ins.
    pub base_url: Option<String>,
    pub model_requested: String,
    /// The model that answered, if the provider named it. Its price counts before that of the requested alias.
    pub model_returned: Option<String>,
    pub usage: Usage,
    /// The cost that the provider reported, in millionths of a US dollar.
    pub reported_micros: Option<u64>,
    /// The provider refused the request, or could not be reached.
    pub is_refused: bool,
    /// The reply was cut off, before most providers report their counts.
    pub is_cut_off: bool,
    pub at: DateTime<Utc>,
}

impl Prices {
    pub fn new(configured: Vec<ModelPrice>) -> Self {
        Self { configured }
    }

    /// Returns the cost of a call. `None` if it is unknown: there is no price, the input or output count is missing,
    /// or the reply was cut off.
    ///
    /// If [`BillableCall::needs_price_list`] is true, the first use parses the whole list, which takes tens of
    /// milliseconds and must not block an async task.
    pub fn charge(&self, sale: &BillableCall) -> Option<Charge> {
        let charge = |micros, basis| Some(Charge { micros, basis, price_version: None });
        if let Some(micros) = sale.reported_micros {
            return charge(micros, CostBasis::Reported);
        }
        if sale.is_refused && self.is_paid_provider(sale) {
            return charge(0, CostBasis::Refused);
        }
        if sale.is_cut_off {
            return None;
        }
        if let Some(price) = self.configured_price(sale) {
            return charge(configured_micros(price, &sale.usage)?, CostBasis::Configured);
        }
        let micros = sale.models().find_map(|model| listed_micros(sale, model))?;
        Some(Charge { micros, basis: CostBasis::Listed, price_version: Some(PRICE_LIST.to_owned()) })
    }

    /// Returns the context size of a model from the price list, for providers that do not report it.
    pub fn context_tokens(&self, base_url: &str, model: &str) -> Option<u64> {
        let base_url = https_url(base_url)?;
        let list = price_list()?;
        let nothing = genai_prices::Usage::new();
        let found = list.calculate(&request(base_url, model, &nothing)).ok()?;
        let provider = list.find_provider(Some(&found.provider_id), None).ok()??;
        provider.models().find(|known| known.id() == found.model_id)?.context_window()
    }

    /// Returns the prices of a million tokens of input and of output, in millionths of a US dollar: the configured ones,
    /// else those of the price list for requests of ordinary length.
    pub fn token_prices(&self, provider: &str, base_url: &str, model: &str) -> Option<(u64, u64)> {
        let configured = self.configured.iter().find(|price| price.provider == provider && price.model == model);
        if let Some(price) = configured {
            return Some((round_micros(price.input * 1e6)?, round_micros(price.output * 1e6)?));
        }
        let base_url = https_url(base_url)?;
        let price_of = |key: UsageKey| {
            let mut thousand =
                genai_prices::Usage::from([(UsageKey::INPUT_TOKENS, 0.0), (UsageKey::OUTPUT_TOKENS, 0.0)]);
            thousand.insert(key, 1e3);
            let found = price_list()?.calculate(&request(base_url, model, &thousand)).ok()?;
            round_micros(found.total_price * 1e9)
        };
        let (input, output) = (price_of(UsageKey::INPUT_TOKENS)?, price_of(UsageKey::OUTPUT_TOKENS)?);
        // Models that are billed per image or character have no token price, which does not mean that they are free.
        (input + output > 0).then_some((input, output))
    }

    /// Returns true if this provider is known to charge money.
    fn is_paid_provider(&self, sale: &BillableCall) -> bool {
        let is_listed = |url| {
            let found = price_list().map(|list| list.find_provider(None, Some(url)));
            matches!(found, Some(Ok(Some(_))))
        };
        self.configured.iter().any(|price| price.provider == sale.provider) || sale.remote_url().is_some_and(is_listed)
    }

    fn configured_price(&self, sale: &BillableCall) -> Option<&ModelPrice> {
        let is_of = |price: &&ModelPrice, model: &str| price.provider == sale.provider && price.model == model;
        sale.models().find_map(|model| self.configured.iter().find(|price| is_of(price, model)))
    }
}

impl BillableCall {
    /// Returns true if the price list is needed, which is slow on first use.
    pub fn needs_price_list(&self) -> bool {
        self.reported_micros.is_none() && self.remote_url().is_some()
    }

    /// Returns the names of the model, in the order in which they are looked up.
    fn models(&self) -> impl Iterator<Item = &str> {
        self.model_returned.as_deref().into_iter().chain([self.model_requested.as_str()])
    }

    fn remote_url(&self) -> Option<&str> {
        https_url(self.base_url.as_deref()?)
    }
}

/// Returns a URL that the price list may know. Providers that charge money do not use plain HTTP.
fn https_url(base_url: &str) -> Option<&str> {
    base_url.starts_with("https://").then_some(base_url)
}

fn request<'a>(base_url: &'a str, model: &'a str, usage: &'a genai_prices::Usage) -> PriceRequest<'a> {
    PriceRequest::new(model, usage).with_provider_api_url(base_url)
}

fn listed_micros(sale: &BillableCall, model: &str) -> Option<u64> {
    let (input, output) = (sale.usage.input_tokens?, sale.usage.output_tokens?);
    // A part must not be larger than the whole: the list refuses such counts.
    let parts = [
        (UsageKey::CACHE_READ_TOKENS, sale.usage.cache_read_tokens, input),
        (UsageKey::CACHE_WRITE_TOKENS, sale.usage.cache_write_tokens, input),
        (UsageKey::OUTPUT_REASONING_TOKENS, sale.usage.reasoning_tokens, output),
    ];
    let mut counts =
        genai_prices::Usage::from([(UsageKey::INPUT_TOKENS, input as f64), (UsageKey::OUTPUT_TOKENS, output as f64)]);
    for (key, part, whole) in parts {
        if let Some(part) = part {
            counts.insert(key, part.min(whole) as f64);
        }
    }
    let request = request(sale.remote_url()?, model, &counts).with_timestamp(sale.at);
    let found = price_list()?.calculate(&request).ok()?;
    // Models that are billed per image or character have no token price, which does not mean that they are free.
    let is_priced = found.total_price > 0.0 || input + output == 0;
    round_micros(found.total_price * 1e6).filter(|_| is_priced)
}

/// Computes the cost from configured prices. Dollars per million tokens are millionths of a dollar per token.
fn configured_micros(price: &ModelPrice, usage: &Usage) -> Option<u64> {
    let (input, output) = (usage.input_tokens?, usage.output_tokens?);
    let read = usage.cache_read_tokens.unwrap_or(0).min(input);
    let written = usage.cache_write_tokens.unwrap_or(0).min(input - read);
    let parts = [
        (input - read - written, price.input),
        (read, price.cache_read.unwrap_or(price.input)),
        (written, price.cache_write.unwrap_or(price.input)),
        (output, price.output),
    ];
    round_micros(parts.into_iter().map(|(tokens, price)| tokens as f64 * price).sum())
}

#[cfg(test)]
mod tests;
