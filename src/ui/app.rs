//! The application: contexts and routes.

use leptos::prelude::*;

/// The whole page below `<body>`.
#[component]
pub fn App() -> impl IntoView {
    view! { <main></main> }
}
