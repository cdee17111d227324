//! Requests with upload progress that can be aborted (`XMLHttpRequest`); `fetch` reports no upload progress.

use super::files::FileHandle;

/// The body of a request.
pub enum XhrBody {
    Json(String),
    File(FileHandle),
}

/// An event of a request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum XhrEvent {
    /// Number of bytes that were handed to the network so far.
    Progress(u64),
    Completed {
        status: u16,
        text: String,
    },
    /// The request failed without a response.
    Failed,
}

#[cfg(feature = "hydrate")]
mod real {
    use send_wrapper::SendWrapper;
    use wasm_bindgen::JsCast;
    use wasm_bindgen::closure::Closure;
    use web_sys::{ProgressEvent, XmlHttpRequest};

    use super::{XhrBody, XhrEvent};

    /// A request in flight. Dropping it aborts the request, and no further event is reported.
    pub struct XhrRequest(SendWrapper<OpenXhr>);

    struct OpenXhr {
        request: XmlHttpRequest,
        _on_progress: Closure<dyn FnMut(ProgressEvent)>,
    }

    impl Drop for XhrRequest {
        fn drop(&mut self) {
            let request = &self.0.request;
            if let Ok(upload) = request.upload() {
                upload.set_onprogress(None);
            }
            request.set_onload(None);
            request.set_onerror(None);
            let _ = request.abort();
        }
    }

    /// Sends a request. Returns `None` if the browser refuses it.
    pub fn send(
        method: &str,
        path: &str,
        body: XhrBody,
        on_event: impl Fn(XhrEvent) + Clone + 'static,
    ) -> Option<XhrRequest> {
        let request = XmlHttpRequest::new().ok()?;
        request.open(method, path).ok()?;
        request.set_request_header("Accept", "application/json").ok()?;
        let report = on_event.clone();
        let on_progress = Closure::<dyn FnMut(ProgressEvent)>::new(move |event: ProgressEvent| {
            report(XhrEvent::Progress(event.loaded() as u64));
        });
        request.upload().ok()?.set_onprogress(Some(on_progress.as_ref().unchecked_ref()));
        // These two callbacks free themselves after their single call, because what they report may drop this request.
        let (report, completed) = (on_event.clone(), request.clone());
        let on_load = Closure::once_into_js(move || {
            let text = completed.response_text().ok().flatten().unwrap_or_default();
            report(XhrEvent::Completed { status: completed.status().unwrap_or(0), text });
        });
        request.set_onload(Some(on_load.unchecked_ref()));
        let on_error = Closure::once_into_js(move || on_event(XhrEvent::Failed));
        request.set_onerror(Some(on_error.unchecked_ref()));
        match body {
            XhrBody::Json(text) => {
                request.set_request_header("Content-Type", "application/json").ok()?;
                request.send_with_opt_str(Some(&text)).ok()?;
            }
            XhrBody::File(file) => request.send_with_opt_blob(Some(&file.0)).ok()?,
        }
        Some(XhrRequest(SendWrapper::new(OpenXhr { request, _on_progress: on_progress })))
    }
}

#[cfg(not(feature = "hydrate"))]
mod real {
    use super::{XhrBody, XhrEvent};

    /// A request in flight. Dropping it aborts the request, and no further event is reported.
    pub struct XhrRequest;

    pub fn send(
        _method: &str,
        _path: &str,
        _body: XhrBody,
        _tell: impl Fn(XhrEvent) + Clone + 'static,
    ) -> Option<XhrRequest> {
        None
    }
}

pub use real::{XhrRequest, send};
