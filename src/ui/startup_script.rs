//! The inline script that loads and starts the program of a page.

use leptos::prelude::*;

use crate::ui::sandboxed_frame::FRAME_LISTENER;

/// Loads the program and calls it after the first paint: the module is 20 times the size of what that needs, and
/// would take its bandwidth on a slow network. A hidden page is never painted and does not wait, and no page waits
/// longer than a second. It also marks the document while a person points rather than types, for the rings of what gets the
/// focus by itself. The files are requested in parallel instead of one after the other has named the next.
const START: &str = r#"((js,wasm,part,call)=>{const root=document.documentElement;addEventListener("pointerdown",()=>root.toggleAttribute("data-pointing",true),true);addEventListener("keydown",()=>root.toggleAttribute("data-pointing",false),true);let begun=false;const start=()=>{if(begun)return;begun=true;if(part){const ahead=document.createElement("link");ahead.rel="preload";ahead.as="fetch";ahead.type="application/wasm";ahead.crossOrigin="anonymous";ahead.href=part;document.head.append(ahead)}const program=fetch(wasm);program.catch(()=>{});import(js).then(page=>page.default({module_or_path:program}).then(()=>page[call]()))};if(document.visibilityState==="hidden")start();else{document.addEventListener("visibilitychange",start);setTimeout(start,1000);if(self.PerformanceObserver?.supportedEntryTypes?.includes("paint"))new PerformanceObserver(start).observe({type:"paint",buffered:true});else requestAnimationFrame(()=>setTimeout(start))}})"#;

/// Loads the script of passkeys if the page is about them.
pub const PASSKEY_LOADER: &str = r#"document.querySelector("[data-passkeys]")&&import("/passkeys.js");"#;

/// The function that starts a page.
#[derive(Debug, Clone, Copy)]
pub enum StartupCall {
    /// Hydrates the server-rendered application.
    Hydrate,
    /// Enhances a server-rendered page that works without script.
    Enhance,
}

/// Renders the script element of a page whose assets are under the path `package`, with the first `part` that the
/// page needs beside the main module. `output_name` is the base name of the files.
pub fn startup_script(
    package: &str,
    output_name: &str,
    part: Option<&str>,
    call: StartupCall,
    nonce: Option<String>,
) -> AnyView {
    let part = part.map_or("null".to_owned(), |name| format!("\"{package}/split_{name}.wasm\""));
    // The document of the application begins with the listener: it arrives in pieces, and a module runs after the last.
    let (call, listeners) = match call {
        StartupCall::Hydrate => ("hydrate", ["", ""]),
        StartupCall::Enhance => ("enhance", [FRAME_LISTENER, PASSKEY_LOADER]),
    };
    let listeners = listeners.concat();
    let script =
        format!(r#"{listeners}{START}("{package}/{output_name}.js","{package}/{output_name}.wasm",{part},"{call}")"#);
    view! { <script type="module" nonce=nonce>{script}</script> }.into_any()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn startup_script_names_program_and_entry_point() {
        let page = |part, call| startup_script("/pkg/b1", "turnleaf", part, call, Some("n0".into())).to_html();
        let application = page(Some("chat"), StartupCall::Hydrate);
        assert!(application.starts_with(r#"<script type="module" nonce="n0">"#), "{application}");
        let arguments =
            r#"("/pkg/b1/turnleaf.js","/pkg/b1/turnleaf.wasm","/pkg/b1/split_chat.wasm","hydrate")</script>"#;
        assert!(application.contains(arguments) && !application.contains(PASSKEY_LOADER), "{application}");
        let plain = page(None, StartupCall::Enhance);
        assert!(
            plain.contains(r#"("/pkg/b1/turnleaf.js","/pkg/b1/turnleaf.wasm",null,"enhance")</script>"#),
            "{plain}"
        );
        assert!(plain.contains(PASSKEY_LOADER), "{plain}");
    }
}
