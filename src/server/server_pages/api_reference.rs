//! The API reference page: every operation and schema of the OpenAPI document, in one page that a browser can search
//! and print.

mod prose;
mod schemas;

use leptos::prelude::*;
use serde_json::Value;

use super::frame::{PageSection, ServerPage};
use super::messages::api_reference as texts;
use crate::ui::erased::view;
use prose::{ENGLISH, entries, inline, prose, table, text};

/// The methods of an operation, in display order.
const METHODS: [&str; 5] = ["get", "post", "put", "patch", "delete"];

/// The content of the page.
pub struct ApiReferencePage<'a> {
    /// An OpenAPI 3.1 document.
    pub document: &'a Value,
}

/// One operation with its method and path.
#[derive(Clone, Copy)]
struct ReferenceOperation<'a> {
    method: &'a str,
    path: &'a str,
    described: &'a Value,
}

impl ReferenceOperation<'_> {
    fn id(&self) -> String {
        text(&self.described["operationId"])
    }

    fn has_tag(&self, tag: &str) -> bool {
        self.described["tags"].as_array().is_some_and(|tags| tags.iter().any(|name| name == tag))
    }
}

impl ApiReferencePage<'_> {
    pub fn draw(&self) -> ServerPage {
        let operations = self.operations();
        let tags: Vec<&Value> = self.document["tags"].as_array().map(|tags| tags.iter().collect()).unwrap_or_default();
        let contents = tags.iter().map(|tag| contents(&text(&tag["name"]), &operations)).collect_view();
        let groups = tags.iter().map(|tag| self.group(tag, &operations)).collect_view();
        let body = view! {
            {prose(&text(&self.document["info"]["description"]))}
            <p><a href="/api/openapi.json">{texts::document()}</a></p>
            <nav class="api-contents" aria-label=texts::contents()>{contents}</nav>
            {groups}
            {schemas::schema_sections(&self.document["components"]["schemas"])}
        };
        ServerPage {
            section: PageSection::Api,
            title: super::messages::API.to_owned(),
            notice: None,
            body: body.into_any(),
        }
    }

    fn operations(&self) -> Vec<ReferenceOperation<'_>> {
        let paths = entries(&self.document["paths"]);
        paths
            .flat_map(|(path, methods)| {
                METHODS.iter().filter_map(move |method| {
                    Some(ReferenceOperation { method, path, described: methods.get(*method)? })
                })
            })
            .collect()
    }

    fn group(&self, tag: &Value, operations: &[ReferenceOperation<'_>]) -> AnyView {
        let name = text(&tag["name"]);
        let operations = operations.iter().filter(|operation| operation.has_tag(&name)).map(|one| self.operation(*one));
        view! {
            <section class="api-group" aria-labelledby=format!("tag-{name}")>
                <h2 id=format!("tag-{name}")>{name.clone()}</h2>
                {prose(&text(&tag["description"]))}
                {operations.collect_view()}
            </section>
        }
        .into_any()
    }

    fn operation(&self, operation: ReferenceOperation<'_>) -> AnyView {
        let id = operation.id();
        let described = operation.described;
        let deprecated = (described["deprecated"] == true).then(|| view! { <p class="hint">{texts::deprecated()}</p> });
        view! {
            <section class="api-operation" id=id>
                <h3><span class="api-method">{operation.method.to_uppercase()}</span>" "<code>{operation.path.to_owned()}</code></h3>
                <p lang=ENGLISH>{text(&described["summary"])}</p>
                {deprecated}
                {prose(&text(&described["description"]))}
                {parameters(&described["parameters"])}
                {body(&described["requestBody"])}
                {code_samples(&described["x-codeSamples"])}
                {self.answers(&described["responses"])}
            </section>
        }
        .into_any()
    }

    fn answers(&self, answers: &Value) -> AnyView {
        let row = |(status, answer): (&str, &Value)| {
            let answer = self.resolved(answer);
            let kinds = entries(&answer["content"]).map(|(kind, content)| {
                let shape = schemas::schema_summary(&content["schema"]);
                view! { <span class="api-answer"><code>{kind.to_owned()}</code>" "{shape}</span> }.into_any()
            });
            view! {
                <tr>
                    <th scope="row">{status.to_owned()}</th>
                    <td lang=ENGLISH>{inline(&text(&answer["description"]))}</td>
                    <td>{kinds.collect_view()}</td>
                </tr>
            }
        };
        let heads = [texts::status(), texts::meaning(), texts::schema()];
        table(texts::answers(), &heads, entries(answers).map(row).collect_view().into_any())
    }

    /// Resolves a reference to a shared response.
    fn resolved<'b>(&'b self, answer: &'b Value) -> &'b Value {
        let pointer = answer["$ref"].as_str().and_then(|reference| reference.strip_prefix('#'));
        pointer.and_then(|pointer| self.document.pointer(pointer)).unwrap_or(answer)
    }
}

fn contents(tag: &str, operations: &[ReferenceOperation<'_>]) -> AnyView {
    let links = operations.iter().filter(|operation| operation.has_tag(tag)).map(|operation| {
        let name = format!("{} {}", operation.method.to_uppercase(), operation.path);
        view! { <li><a href=format!("#{}", operation.id())><code>{name}</code></a></li> }
    });
    view! {
        <h2>{tag.to_owned()}</h2>
        <ul>{links.collect_view()}</ul>
    }
    .into_any()
}

fn parameters(all: &Value) -> Option<AnyView> {
    let all = all.as_array().filter(|all| !all.is_empty())?;
    let row = |one: &Value| {
        let needed = if one["required"] == true { texts::needed() } else { "" };
        view! {
            <tr>
                <th scope="row"><code>{text(&one["name"])}</code></th>
                <td>{texts::parameter_place(one["in"].as_str().unwrap_or_default())}</td>
                <td>{schemas::schema_summary(&one["schema"])}" "{needed}</td>
                <td lang=ENGLISH>{inline(&text(&one["description"]))}</td>
            </tr>
        }
    };
    let heads = [texts::name(), texts::place_label(), texts::kind(), texts::meaning()];
    Some(table(texts::parameters(), &heads, all.iter().map(row).collect_view().into_any()))
}

fn code_samples(samples: &Value) -> Option<AnyView> {
    let samples = samples.as_array()?.iter().map(|sample| {
        let label = text(&sample["label"]);
        view! {
            <h4>{texts::example(&label)}</h4>
            <pre class="api-example" tabindex="0"><code>{text(&sample["source"])}</code></pre>
        }
    });
    Some(samples.collect_view().into_any())
}

fn body(body: &Value) -> Option<AnyView> {
    let content = body.pointer("/content/application~1json")?;
    let optional = (body["required"] != true).then_some(texts::may_be_left_out());
    let example = content.get("example").and_then(|example| serde_json::to_string_pretty(example).ok());
    let example = example.map(|example| view! { <pre class="api-example" tabindex="0"><code>{example}</code></pre> });
    Some(
        view! {
            <h4>{texts::body()}</h4>
            <p>{schemas::schema_summary(&content["schema"])}" "{optional}</p>
            {example}
        }
        .into_any(),
    )
}
