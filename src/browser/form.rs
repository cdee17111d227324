//! Forms: reads controls that the user changed before hydration, and submits forms without leaving the page.

/// The reason of a refused form in the server's words; `None` if the server could not be reached or gave no reason.
pub type FormFailureMessage = Option<String>;

#[cfg(feature = "hydrate")]
mod real {
    use leptos::ev::SubmitEvent;
    use wasm_bindgen::JsCast;
    use wasm_bindgen_futures::JsFuture;
    use web_sys::{FormData, HtmlFormElement, RequestInit, Response, UrlSearchParams};

    use super::FormFailureMessage;
    use crate::browser::api_request::problem_sentence;

    /// Limit for `keepalive` requests: half of the 64 KiB that browsers allow for all of them that are in flight.
    const KEEPALIVE_LIMIT_BYTES: u32 = 32 << 10;
    /// Marks a form with input that has not been submitted.
    pub const TYPED_ATTRIBUTE: &str = "data-typed";

    /// Returns the value of the first `<select>` with this name.
    pub fn selected_value(name: &str) -> Option<String> {
        let select = web_sys::window()?.document()?.query_selector(&format!("select[name={name}]")).ok().flatten()?;
        js_sys::Reflect::get(select.unchecked_ref(), &"value".into()).ok()?.as_string()
    }

    /// Submits the form with the button that was pressed. The field `stay` tells the server that the client wants no
    /// other page.
    pub fn submit(event: &SubmitEvent) -> impl Future<Output = Result<(), FormFailureMessage>> + use<> {
        let request = request(event);
        async move {
            let answer = JsFuture::from(request.ok_or(None)?).await.map_err(|_| None)?;
            let answer: Response = answer.dyn_into().map_err(|_| None)?;
            if answer.ok() {
                return Ok(());
            }
            let text = JsFuture::from(answer.text().map_err(|_| None)?).await.map_err(|_| None)?;
            let problem: Option<serde_json::Value> = text.as_string().and_then(|text| serde_json::from_str(&text).ok());
            Err(problem.as_ref().and_then(problem_sentence).map(str::to_owned))
        }
    }

    fn request(event: &SubmitEvent) -> Option<js_sys::Promise> {
        let form = event.target()?.dyn_into::<HtmlFormElement>().ok()?;
        let fields = form_fields(&form, submitter_field(event))?;
        fields.append("stay", "1");
        send_fields(&form, &fields)
    }

    /// Name and value of the button that was pressed.
    pub type SubmitterField = (String, String);

    pub fn submitter_field(event: &SubmitEvent) -> Option<SubmitterField> {
        let button = event.submitter()?;
        button.get_attribute("name").zip(button.get_attribute("value"))
    }

    /// Returns the form's current fields, with the button that was pressed.
    pub fn form_fields(form: &HtmlFormElement, button: Option<SubmitterField>) -> Option<UrlSearchParams> {
        let filled = FormData::new_with_form(form).ok()?;
        let fields = UrlSearchParams::new_with_str_sequence_sequence(filled.as_ref()).ok()?;
        if let Some((name, value)) = button {
            fields.append(&name, &value);
        }
        Some(fields)
    }

    fn send_fields(form: &HtmlFormElement, fields: &UrlSearchParams) -> Option<js_sys::Promise> {
        let init = RequestInit::new();
        init.set_method("POST");
        init.set_body(fields);
        // `keepalive` completes the request even if the page is left meanwhile.
        let _ = js_sys::Reflect::set(
            &init,
            &"keepalive".into(),
            &(fields.to_string().length() < KEEPALIVE_LIMIT_BYTES).into(),
        );
        Some(web_sys::window()?.fetch_with_str_and_init(&form.get_attribute("action")?, &init))
    }

    /// Submits the fields to the form's address and returns the response, whatever its status.
    pub async fn submit_for_response(form: &HtmlFormElement, fields: &UrlSearchParams) -> Option<Response> {
        JsFuture::from(send_fields(form, fields)?).await.ok()?.dyn_into().ok()
    }

    /// Like [`submit_for_response`], and returns the response page.
    pub async fn submit_for_page(form: &HtmlFormElement, fields: &UrlSearchParams) -> Option<String> {
        let answer = submit_for_response(form, fields).await?;
        JsFuture::from(answer.text().ok()?).await.ok()?.as_string()
    }
}

#[cfg(not(feature = "hydrate"))]
mod real {
    use leptos::ev::SubmitEvent;

    use super::FormFailureMessage;

    pub fn selected_value(_name: &str) -> Option<String> {
        None
    }

    pub fn submit(_event: &SubmitEvent) -> impl Future<Output = Result<(), FormFailureMessage>> + use<> {
        std::future::ready(Err(None))
    }
}

#[cfg(feature = "hydrate")]
pub use real::{SubmitterField, TYPED_ATTRIBUTE, form_fields, submit_for_page, submit_for_response, submitter_field};
pub use real::{selected_value, submit};
