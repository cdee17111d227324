//! Case mapping for all scripts by the browser, because Rust's Unicode tables would add 24 KB to the module.

#[cfg(feature = "hydrate")]
mod real {
    use js_sys::JsString;

    /// Returns the text in lower case.
    pub fn to_lowercase(text: &str) -> String {
        match text.is_ascii() {
            true => text.to_ascii_lowercase(),
            false => JsString::from(text).to_lower_case().into(),
        }
    }

    /// Returns the text in upper case.
    pub fn to_uppercase(text: &str) -> String {
        match text.is_ascii() {
            true => text.to_ascii_uppercase(),
            false => JsString::from(text).to_upper_case().into(),
        }
    }
}

#[cfg(not(feature = "hydrate"))]
mod real {
    pub fn to_lowercase(text: &str) -> String {
        text.to_lowercase()
    }

    pub fn to_uppercase(text: &str) -> String {
        text.to_uppercase()
    }
}

pub use real::{to_lowercase, to_uppercase};
