//! The page frame as the server renders it: the marks by which people, scripts and tests find elements
//! (docs/reference/api.md 4), and that no text of a person or a model becomes markup.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use axum::body::{Body, to_bytes};
use axum::http::Request;
use chrono::{DateTime, Utc};
use leptos::prelude::*;
use leptos_meta::{MetaTags, provide_meta_context};
use leptos_router::components::Router;
use turnleaf::api::view::{
    ChatListItem, ChatPage, ComposerNotice, ConnectionOption, DraftView, ProjectLink, QueueView, QueuedMessageView,
    TurnView,
};
use turnleaf::domain::chats::chat::ChatListHeading;
use turnleaf::domain::documents::attachment::{Attachment, ReferenceStatus};
use turnleaf::domain::providers::provider::{Model, ReasoningSupport};
use turnleaf::domain::{Block, Branch, Chat, Content, ModelLock, Role, Turn, TurnLocation, TurnStatus};
use turnleaf::ui::announce::provide_announcer;
use turnleaf::ui::connection::provide_connection;
use turnleaf::ui::kit::provide_toasts;
use turnleaf::ui::page::chat::ChatScreen;
use turnleaf::ui::page::home::HomeScreen;
use turnleaf::ui::page::not_found::NotFoundPage;
use turnleaf::ui::preferences::{PreferenceSetting, Preferences};
use turnleaf::ui::shell::shell;
use turnleaf::ui::sidebar::chat_list::ChatListRows;

const HOSTILE: [&str; 4] = [
    "</title><script>alert(1)</script>",
    "</textarea><script>alert(1)</script>",
    "\"><script>alert(1)</script>",
    "<img src=x onerror=alert(1)>",
];

/// Renders a page as the server does, with the contexts of the application around `view`.
async fn render<V: IntoView + 'static>(view: impl Fn() -> V + Clone + Send + Sync + 'static) -> String {
    let document = move || {
        let view = view.clone();
        view! {
            <html>
                <head><MetaTags/></head>
                <body>{in_frame(view)}</body>
            </html>
        }
    };
    render_response(|| (), document).await
}

fn in_frame<V: IntoView + 'static>(view: impl Fn() -> V + Clone + Send + Sync + 'static) -> impl IntoView {
    provide_meta_context();
    provide_context(RwSignal::new(Preferences::default()));
    provide_announcer();
    provide_connection();
    provide_toasts();
    view! { <Router><main>{view()}</main></Router> }
}

async fn render_response<V: IntoView + 'static>(
    contexts: impl Fn() + Clone + Send + Sync + 'static,
    document: impl Fn() -> V + Clone + Send + Sync + 'static,
) -> String {
    // Listing the routes initializes the framework's executor, on the server too.
    leptos_axum::generate_route_list(|| ());
    let render = leptos_axum::render_app_async_with_context(contexts, document);
    let request = Request::builder().uri("/nowhere").body(Body::empty()).unwrap();
    let body = tokio::task::LocalSet::new().run_until(render(request)).await.into_body();
    let html = String::from_utf8(to_bytes(body, usize::MAX).await.unwrap().to_vec()).unwrap();
    // The framework's markers between texts are not content.
    html.replace("<!>", "")
}

fn options() -> LeptosOptions {
    LeptosOptions::builder().output_name("turnleaf").site_pkg_dir("pkg/abc123").build()
}

async fn document(preferences: Preferences) -> String {
    render_response(move || provide_context(preferences), || shell(options())).await
}

fn id<T: From<uuid::Uuid>>(number: u128) -> T {
    uuid::Uuid::from_u128(number).into()
}

fn noon() -> DateTime<Utc> {
    DateTime::from_timestamp(1_800_000_000, 0).unwrap()
}

fn model(provider: &str, model: &str, is_demo: bool) -> Model {
    Model {
        lock: ModelLock::new(provider, model),
        provider_name: if is_demo { "Demo (offline, scripted)".into() } else { "Example AI".into() },
        name: format!("{model} by name"),
        description: None,
        reasoning: ReasoningSupport::Optional,
        thinking_levels: turnleaf::domain::Thinking::LEVELS.to_vec(),
        context_tokens: None,
        output_tokens: None,
        images: None,
        tools: None,
        input_price: None,
        output_price: None,
        is_demo,
        is_default: is_demo,
        used: None,
    }
}

fn turn(number: u128, role: Role, status: TurnStatus, text: &str) -> TurnView {
    let author = match role {
        Role::User => turnleaf::domain::Author::User,
        Role::Assistant | Role::System => turnleaf::domain::Author::Assistant,
    };
    let block = Block::new(id(1000 + number), (0, 0), author, Content::text(text), noon());
    let location = TurnLocation {
        chat_id: id(1),
        ord: number as i64,
        depth: number as i64,
        branch_id: id(2),
        exchange_id: id(3),
        prev_turn_id: None,
    };
    let turn = Turn { status, blocks: vec![block], ..Turn::new(id(number), location, role, noon()) };
    TurnView::new(turn)
}

fn empty_page() -> ChatPage {
    ChatPage {
        models: vec![model("example", "vendor/large", false), model("demo", "demo", true)],
        form_request_id: "11111111-1111-4111-8111-111111111111".into(),
        ..ChatPage::default()
    }
}

fn chat_page(status: TurnStatus, words: &str) -> ChatPage {
    let chat = Chat { title: words.into(), rev: 1, ..Chat::new(id(1), id(9), noon()) };
    let branch = Branch::new(id(2), id(1), "main", ModelLock::new("example", "vendor/large"), noon());
    ChatPage {
        chat: Some(chat),
        branch: Some(branch),
        turns: vec![turn(11, Role::User, TurnStatus::Complete, words), turn(12, Role::Assistant, status, words)],
        draft: DraftView { text: words.into(), ..DraftView::default() },
        ..empty_page()
    }
}

#[tokio::test]
async fn document_has_frame_before_any_script_runs() {
    let html = document(
        Preferences::default()
            .with_choice(PreferenceSetting::Theme, "dark")
            .with_choice(PreferenceSetting::Sidebar, "closed"),
    )
    .await;
    for part in [
        r#"<html lang="en" data-theme="dark" data-sidebar="closed">"#,
        r#"href="/pkg/abc123/turnleaf.css""#,
        r#"/pkg/abc123/turnleaf.js"#,
        r#"<nav id="sidebar" aria-label="Chats" class="sidebar no-print">"#,
        r#"<div id="say" role="status" class="quiet"></div>"#,
        r#"<div id="alert" role="alert" class="quiet"></div>"#,
        r##"href="#message""##,
        r#"href="/settings""#,
    ] {
        assert!(html.contains(part), "{part} is missing in {html}");
    }
    assert_eq!(html.matches(r#"role="status""#).count(), 1);
    assert_eq!(html.matches(r#"role="alert""#).count(), 1);
}

#[tokio::test]
async fn every_script_has_nonce_and_no_inline_style_or_listener_exists() {
    for html in [document(Preferences::default()).await, render(|| view! { <HomeScreen page=empty_page()/> }).await] {
        for script in html.split("<script").skip(1) {
            let tag = script.split('>').next().unwrap();
            assert!(tag.contains("nonce=\""), "{tag}");
        }
        let body = html.split("<body").nth(1).unwrap();
        for tag in body.split('<').skip(1).filter_map(|rest| rest.split_once('>')).map(|(tag, _)| tag) {
            assert!(!tag.contains(" style="), "{tag}");
            assert!(!tag.split(' ').any(|part| part.starts_with("on") && part.contains('=')), "{tag}");
        }
    }
}

#[tokio::test]
async fn text_of_person_or_model_never_becomes_markup() {
    for words in HOSTILE {
        let mut page = chat_page(TurnStatus::Complete, words);
        page.models.push(Model { provider_name: words.into(), name: words.into(), ..model(words, words, false) });
        page.notices.push(ComposerNotice::FoundLocally { name: words.into(), address: words.into(), has_models: true });
        let option = ConnectionOption {
            id: words.into(),
            name: words.into(),
            keys_at: Some(words.into()),
            ..ConnectionOption::default()
        };
        page.notices.push(ComposerNotice::NothingConfigured { ways: vec![option] });
        let new = ChatPage { chat: None, branch: None, turns: Vec::new(), ..page.clone() };
        let listed = vec![ChatListItem {
            id: id(1),
            title: words.into(),
            updated_at: noon(),
            heading: ChatListHeading::Today,
            running: true,
            needs_you: false,
            has_draft: true,
            unread: false,
        }];
        let (chat, home) = (page.clone(), new.clone());
        for html in [
            render(move || view! { <ChatScreen page=chat.clone()/> }).await,
            render(move || view! { <HomeScreen page=home.clone()/> }).await,
            render(move || view! { <ChatListRows items=listed.clone()/> }).await,
        ] {
            // The words must be shown, but not as tags.
            assert!(html.contains("alert(1)"), "{html}");
            assert!(!html.contains("<script>alert"), "{html}");
            assert!(!html.contains("<img src=x"), "{html}");
        }
    }
}

#[tokio::test]
async fn document_title_names_chat_and_shows_running_reply() {
    let html = render(|| view! { <ChatScreen page=chat_page(TurnStatus::Complete, "Tom & Jerry")/> }).await;
    assert!(html.contains("<title>Tom &amp; Jerry · Turnleaf</title>"), "{html}");
    let html = render(|| view! { <ChatScreen page=chat_page(TurnStatus::Streaming, "Cats")/> }).await;
    assert!(html.contains("<title>● Cats · Turnleaf</title>"), "{html}");
}

#[tokio::test]
async fn composer_shows_context_usage_and_warns_in_time() {
    let locked = || Model { context_tokens: Some(200_000), ..model("example", "vendor/large", false) };
    let page = |used: Option<u64>, models: Vec<Model>| {
        let mut page = ChatPage { models, ..chat_page(TurnStatus::Complete, "Hello") };
        page.turns[1].turn.context_tokens = used;
        page
    };
    let nearly = "This chat is close to the model's context limit.";
    let full = "This chat exceeds the model's context limit.";
    for (used, texts, has_bar) in [
        (38_400, vec!["≈ 38k of 200k tokens"], false),
        (119_999, vec!["≈ 120k of 200k tokens"], false),
        (120_000, vec!["≈ 120k of 200k tokens", "value=\"60\""], true),
        (180_000, vec!["≈ 180k of 200k tokens", nearly, "aria-valuetext=\"≈ 180k of 200k tokens\""], true),
        (210_000, vec!["≈ 210k of 200k tokens", full, "value=\"100\""], true),
    ] {
        let page = page(Some(used), vec![locked()]);
        let html = render(move || view! { <ChatScreen page=page.clone()/> }).await;
        for part in &texts {
            assert!(html.contains(part), "{used}: {part} is missing in {html}");
        }
        assert_eq!(html.contains("<meter"), has_bar, "{used}");
        assert_eq!(html.contains(nearly) || html.contains(full), texts.len() > 2, "{used}");
    }
    // The context meter is absent when either number is unknown.
    let unknown = Model { context_tokens: None, ..locked() };
    for page in [page(None, vec![locked()]), page(Some(1), vec![unknown]), page(Some(1), vec![])] {
        let html = render(move || view! { <ChatScreen page=page.clone()/> }).await;
        assert!(!html.contains("context-meter"), "{html}");
    }
}

#[tokio::test]
async fn composer_is_form_that_works_without_script() {
    let html = render(|| view! { <HomeScreen page=empty_page()/> }).await;
    for part in [
        r#"aria-label="Message" method="post" action="/forms/send""#,
        r#"<label for="message" class="quiet">Message</label>"#,
        r#"name="text""#,
        r#"name="client_request_id" value="11111111-1111-4111-8111-111111111111""#,
        r#"<optgroup label="Example AI">"#,
        r#"<optgroup label="Demo (offline, scripted)">"#,
        r#"value="example/vendor/large""#,
        r#"aria-label="Thinking""#,
        r#"<span class="quiet">Send</span>"#,
        r#"placeholder="Ask anything…""#,
        r#"href="/?start=0""#,
        r#"href="/new/settings""#,
    ] {
        assert!(html.contains(part), "{part} is missing in {html}");
    }
    assert!(!html.contains("aria-disabled"), "nothing would enable it again without script: {html}");
    assert!(!html.contains(r#"name="chat_id""#) && !html.contains(r#"name="prev_turn_id""#));
}

#[tokio::test]
async fn thinking_menu_has_supported_levels_with_nearest_selected() {
    use turnleaf::domain::Thinking::{High, Low, Medium, Off};
    for (levels, draft, shown) in [
        (&[Off, Low, Medium, High][..], None, Some((4, "medium"))),
        (&[Off, Medium], Some(High), Some((2, "medium"))),
        (&[Low, High], Some(Off), Some((2, "low"))),
        (&[Low, High], None, Some((2, "high"))),
        (&[Off], None, None),
        (&[], Some(High), None),
    ] {
        let models = vec![Model { thinking_levels: levels.to_vec(), ..model("demo", "tour", true) }];
        let draft = DraftView { thinking: draft, ..DraftView::default() };
        let page = ChatPage { models, draft, ..empty_page() };
        let html = render(move || view! { <HomeScreen page=page.clone()/> }).await;
        let menu = html.split(r#"<select name="thinking""#).nth(1).map(|rest| rest.split("</select>").next().unwrap());
        let options: Option<Vec<&str>> = menu.map(|menu| menu.split("<option ").skip(1).collect());
        let chosen = options.as_ref().and_then(|options| options.iter().find(|option| option.contains(" selected")));
        assert_eq!(options.as_ref().map(Vec::len), shown.map(|(count, _)| count), "{levels:?} {html}");
        if let Some((_, level)) = shown {
            assert!(chosen.unwrap().contains(&format!("value=\"{level}\"")), "{levels:?} {chosen:?}");
        }
    }
}

#[tokio::test]
async fn draft_is_in_composer_as_written() {
    let page = ChatPage { draft: DraftView { text: "\nif a < b && c".into(), ..DraftView::default() }, ..empty_page() };
    let html = render(move || view! { <HomeScreen page=page.clone()/> }).await;
    assert!(html.contains(">\n\nif a &lt; b &amp;&amp; c</textarea>"), "{html}");
}

#[tokio::test]
async fn draft_attachments_each_have_remove_button() {
    const DOCUMENT_ID: &str = "00000000-0000-0000-0000-0000000000d1";
    let at = "2026-11-22T07:00:00Z".parse().unwrap();
    let attachments = vec![
        Attachment::document(DOCUMENT_ID.into(), "</bdi><script>".into(), at, 400),
        Attachment::image("ab12".repeat(16), "image/png".into(), "leaf.png".into(), None, None),
    ];
    let named = vec![(0, ReferenceStatus::Older)];
    let page = ChatPage { draft: DraftView { attachments, named, ..DraftView::default() }, ..empty_page() };
    let html = render(move || view! { <HomeScreen page=page.clone()/> }).await;
    let list = html.split("aria-label=\"Attachments\"").nth(1).unwrap().split("</ul>").next().unwrap();
    assert_eq!(list.matches("<li").count(), 2, "{list}");
    assert!(list.contains("&lt;/bdi&gt;&lt;script&gt;") && list.contains(" · 125 tokens · older version"), "{list}");
    assert!(list.contains(&format!("src=\"/api/blobs/{}\" alt=\"leaf.png\"", "ab12".repeat(16))), "{list}");
    for (key, name) in [(DOCUMENT_ID, "&lt;/bdi&gt;&lt;script&gt;"), (&"ab12".repeat(16), "leaf.png")] {
        assert!(list.contains(&format!("name=\"detach\" value=\"{key}\"")), "{list}");
        assert!(list.contains(&format!("aria-label=\"Remove {name}\"")), "{list}");
    }
    assert!(list.contains("formaction=\"/forms/detach\""), "{list}");
    let row = html.split("class=\"attach\"").nth(1).unwrap();
    assert!(row.contains("type=\"file\"") && row.contains("formenctype=\"multipart/form-data\""), "{row}");
}

#[tokio::test]
async fn chat_shows_branch_provider_and_model() {
    let html = render(|| view! { <ChatScreen page=chat_page(TurnStatus::Complete, "Cats")/> }).await;
    let header = html.split("data-branch-id=").nth(1).unwrap();
    assert!(header.starts_with("\"00000000-0000-0000-0000-000000000002\""));
    assert!(header.contains("vendor/large by name"), "{header}");
    assert!(html.contains("Example AI · vendor/large by name\nSwitching models starts a branch."), "{html}");
    assert!(!html.contains("branch-chip"), "one branch needs no name: {html}");
    assert!(!html.contains(r#"<select name="model""#), "a branch has no other model to choose");
    let left = Some("the first".to_owned());
    let page = ChatPage { branch_from: left, leaves: 2, ..chat_page(TurnStatus::Complete, "Cats") };
    let html = render(move || view! { <ChatScreen page=page.clone()/> }).await;
    let chip = html.split("branch-chip").nth(1).unwrap().split("</a>").next().unwrap();
    assert!(chip.contains("the first ▸ main"), "{chip}");
    assert!(html.contains("2 branches"), "{html}");
    assert!(html.contains(r#"name="chat_id" value="00000000-0000-0000-0000-000000000001""#));
    assert!(html.contains(r#"name="prev_turn_id" value="00000000-0000-0000-0000-00000000000c""#));
}

#[tokio::test]
async fn running_reply_has_queue_of_forms_in_which_no_text_becomes_markup() {
    let page = move || {
        let message = |n: u64, text: &str| QueuedMessageView {
            id: id(n.into()),
            rev: n,
            text: text.into(),
            attached: 0,
            refusal: Some(HOSTILE[3].into()),
        };
        let messages = HOSTILE.iter().zip(20..).map(|(text, n)| message(n, text)).collect();
        ChatPage { queue: QueueView { rev: 1, messages, is_paused: false }, ..chat_page(TurnStatus::Streaming, "Cats") }
    };
    let html = render(move || view! { <ChatScreen page=page()/> }).await;
    assert!(html.contains(r#"name="queue" value="1""#), "{html}");
    assert_eq!(html.matches(r#"action="/forms/queue""#).count(), HOSTILE.len());
    assert!(html.contains(r#"name="id" value="00000000-0000-0000-0000-000000000014""#), "{html}");
    assert!(!html.contains("<script>alert") && !html.contains("<img src=x"), "{html}");
    let empty = render(|| view! { <ChatScreen page=chat_page(TurnStatus::Complete, "Cats")/> }).await;
    assert!(!empty.contains("/forms/queue") && !empty.contains(r#"name="queue""#));
}

#[tokio::test]
async fn running_reply_turns_send_into_stop_and_page_without_script_refreshes() {
    let html = render(|| view! { <ChatScreen page=chat_page(TurnStatus::Streaming, "Cats")/> }).await;
    assert!(html.contains(r#"<span class="quiet">Stop reply</span>"#), "{html}");
    assert!(
        html.contains(r#"form="stop-reply""#) && html.contains(r#"id="stop-reply" method="post" action="/forms/stop""#)
    );
    assert!(html.contains(r#"name="turn_id" value="00000000-0000-0000-0000-00000000000c""#));
    let refresh = r#"<noscript><meta http-equiv="refresh" content="4; url=?at=00000000-0000-0000-0000-00000000000c">"#;
    assert!(html.contains(refresh), "{html}");
    // The skip link before the list of chats leads to this element.
    assert!(html.contains(r#"id="latest""#), "{html}");
    let over = render(|| view! { <ChatScreen page=chat_page(TurnStatus::Complete, "Cats")/> }).await;
    assert!(!over.contains("<noscript"));
}

#[tokio::test]
async fn server_without_provider_explains_connecting_and_offers_demo() {
    let page = ChatPage {
        models: vec![model("demo", "demo", true)],
        notices: vec![
            ComposerNotice::NothingConfigured {
                ways: vec![ConnectionOption {
                    id: "openrouter".into(),
                    name: "OpenRouter".into(),
                    ..ConnectionOption::default()
                }],
            },
            ComposerNotice::FoundLocally {
                name: "Ollama".into(),
                address: "http://127.0.0.1:11434".into(),
                has_models: true,
            },
        ],
        ..empty_page()
    };
    let html = render(move || view! { <HomeScreen page=page.clone()/> }).await;
    for part in [
        "Connect a model to start.",
        "/settings/providers?add=openrouter&amp;next=/#add",
        "action=\"/forms/found\"",
        "Ollama is running at http://127.0.0.1:11434",
        "class=\"button primary\"",
        "Try the demo",
    ] {
        assert!(html.contains(part), "{part} is missing in {html}");
    }
    for part in ["/new/settings", "/?start="] {
        assert!(!html.contains(part), "{part} means nothing without a model: {html}");
    }
}

#[tokio::test]
async fn chat_list_marks_running_and_unread_chats_and_drafts() {
    let items = vec![
        ChatListItem {
            id: id(1),
            title: "Cats".into(),
            updated_at: noon(),
            heading: ChatListHeading::Today,
            running: true,
            needs_you: false,
            has_draft: false,
            unread: false,
        },
        ChatListItem {
            id: id(2),
            title: String::new(),
            updated_at: noon(),
            heading: ChatListHeading::Today,
            running: false,
            needs_you: false,
            has_draft: true,
            unread: true,
        },
    ];
    let project = ProjectLink { id: id(7), name: "Boat".into(), color: "teal".into() };
    let (projects, none) = (vec![project.clone()], vec![project]);
    let html = render(move || view! { <ChatListRows items=items.clone() projects=projects.clone()/> }).await;
    assert!(html.contains(r#"href="/c/00000000-0000-0000-0000-000000000001""#), "{html}");
    let listed = html.find(r#"href="/projects/00000000-0000-0000-0000-000000000007""#).expect("the project");
    assert!(html.contains("Boat") && html.contains(r#"data-color="teal""#), "{html}");
    assert!(listed < html.find("Cats").expect("the chat"), "projects come first: {html}");
    let empty = render(move || view! { <ChatListRows items=Vec::new() projects=none.clone()/> }).await;
    assert!(empty.contains("Boat") && empty.contains("Your chats will appear here."), "{empty}");
    assert!(html.contains("replying") && html.contains("Draft") && html.contains("New chat"));
    assert_eq!(html.matches("new reply").count(), 1, "{html}");
    assert!(html.contains("More actions for Cats"));
}

#[tokio::test]
async fn missing_and_foreign_chats_look_the_same_and_link_onward() {
    let html = render(|| view! { <NotFoundPage/> }).await;
    assert!(html.contains("Not found") && html.contains(r#"href="/""#), "{html}");
}
