//! Large and small letters of all scripts. The browser has their tables at hand, which weigh 24 KB in a module.

#[cfg(feature = "hydrate")]
mod real {
    use js_sys::JsString;

    /// A text in small letters.
    pub fn to_lowercase(text: &str) -> String {
        match text.is_ascii() {
            true => text.to_ascii_lowercase(),
            false => JsString::from(text).to_lower_case().into(),
        }
    }

    /// A text in capitals.
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
