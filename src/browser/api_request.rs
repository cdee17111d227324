//! Client for this server's HTTP API: fetches text and JSON, and reports failures in the words of the server's problem
//! document.

use serde_json::Value;

/// The reason of a failed request in the server's words; `None` if the server could not be reached or sent something
/// unreadable.
pub type ApiFailureMessage = Option<String>;

/// Returns the sentence of a problem document: in the reader's language if it has one, else in English.
pub fn problem_sentence(problem: &Value) -> Option<&str> {
    problem["localized"].as_str().or(problem["detail"].as_str())
}

#[cfg(feature = "hydrate")]
mod real {
    use js_sys::{Array, Promise};
    use serde_json::Value;
    use wasm_bindgen::JsCast;
    use wasm_bindgen_futures::JsFuture;
    use web_sys::{RequestInit, Response};

    use super::{ApiFailureMessage, problem_sentence};

    /// Fetches the text at a path of this site.
    pub async fn get_text(path: &str) -> Result<String, ApiFailureMessage> {
        await_response(web_sys::window().map(|window| window.fetch_with_str(path))).await
    }

    /// Fetches the JSON at a path of this site.
    pub async fn get(path: &str) -> Result<Value, ApiFailureMessage> {
        read(get_text(path).await?)
    }

    /// Posts JSON to a path of this site and returns the JSON of the response.
    pub async fn post(path: &str, body: &Value) -> Result<Value, ApiFailureMessage> {
        send("POST", path, body).await
    }

    /// Sends a change (`PATCH`) as JSON to a path of this site and returns the JSON of the response.
    pub async fn patch(path: &str, body: &Value) -> Result<Value, ApiFailureMessage> {
        send("PATCH", path, body).await
    }

    async fn send(method: &str, path: &str, body: &Value) -> Result<Value, ApiFailureMessage> {
        let init = RequestInit::new();
        init.set_method(method);
        init.set_headers(&Array::of1(&Array::of2(&"content-type".into(), &"application/json".into())));
        init.set_body(&body.to_string().into());
        read(await_response(web_sys::window().map(|window| window.fetch_with_str_and_init(path, &init))).await?)
    }

    fn read(text: String) -> Result<Value, ApiFailureMessage> {
        serde_json::from_str(&text).map_err(|_| None)
    }

    async fn await_response(promise: Option<Promise>) -> Result<String, ApiFailureMessage> {
        let answer = JsFuture::from(promise.ok_or(None)?).await.map_err(|_| None)?;
        let answer: Response = answer.dyn_into().map_err(|_| None)?;
        let text = JsFuture::from(answer.text().map_err(|_| None)?).await.map_err(|_| None)?;
        let text = text.as_string().unwrap_or_default();
        if answer.ok() {
            return Ok(text);
        }
        let problem = read(text).unwrap_or_default();
        Err(Some(problem_sentence(&problem).map_or_else(|| answer.status().to_string(), str::to_owned)))
    }
}

#[cfg(not(feature = "hydrate"))]
mod real {
    use serde_json::Value;

    use super::ApiFailureMessage;

    pub async fn get_text(_path: &str) -> Result<String, ApiFailureMessage> {
        Err(None)
    }

    pub async fn get(_path: &str) -> Result<Value, ApiFailureMessage> {
        Err(None)
    }

    pub async fn post(_path: &str, _body: &Value) -> Result<Value, ApiFailureMessage> {
        Err(None)
    }

    pub async fn patch(_path: &str, _body: &Value) -> Result<Value, ApiFailureMessage> {
        Err(None)
    }
}

pub use real::{get, get_text, patch, post};
