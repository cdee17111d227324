//! Replies of the demo: one function per script that maps the request and the step of the reply to the next pieces.

use serde_json::{Value, json};

use crate::pictures::GeneratedImage;

/// The parts of a request that the demo uses.
#[derive(Debug, Clone)]
pub struct DemoRequest {
    pub model: String,
    /// The newest user message.
    pub text: String,
    /// Short descriptions of the images in that message.
    pub images: Vec<String>,
    /// The number of user messages.
    pub user_messages: usize,
    /// The number of steps of this reply whose tool calls have results.
    pub step: usize,
    /// The number of messages; it makes ids unique within a chat.
    pub messages: usize,
    /// The number of words in all messages, reported as tokens.
    pub words: usize,
    pub is_thinking: bool,
    pub has_tools: bool,
}

/// A piece of a script.
#[derive(Debug, Clone, PartialEq)]
pub enum ScriptPiece {
    Think(String),
    Text(String),
    /// The demo's own picture.
    Picture,
    Call {
        name: &'static str,
        arguments: Value,
    },
    Fail {
        code: &'static str,
        message: &'static str,
    },
}

impl DemoRequest {
    /// Reads a request body; `None` if it has no user message.
    pub fn from_body(body: &Value) -> Option<Self> {
        let messages = body.get("messages")?.as_array()?;
        let role = |message: &Value, role: &str| message.get("role").and_then(Value::as_str) == Some(role);
        let last = messages.iter().rposition(|message| role(message, "user"))?;
        let parts = |message: &Value| message.get("content").and_then(Value::as_array).cloned().unwrap_or_default();
        let text = |message: &Value| match message.get("content").and_then(Value::as_str) {
            Some(text) => text.to_owned(),
            None => {
                let words = parts(message);
                words.iter().filter_map(|part| part.get("text")?.as_str()).collect::<Vec<_>>().join("\n\n")
            }
        };
        Some(Self {
            model: body.get("model")?.as_str()?.to_owned(),
            text: text(&messages[last]),
            images: parts(&messages[last]).iter().filter_map(describe_image).collect(),
            user_messages: messages.iter().filter(|message| role(message, "user")).count(),
            step: messages[last..].iter().filter(|message| role(message, "assistant")).count(),
            messages: messages.len(),
            words: messages.iter().map(|message| text(message).split_whitespace().count()).sum(),
            is_thinking: body.get("reasoning_effort").and_then(Value::as_str) != Some("none"),
            has_tools: body.get("tools").and_then(Value::as_array).is_some_and(|tools| !tools.is_empty()),
        })
    }
}

/// Describes an image by its type and size, since the demo cannot interpret it.
fn describe_image(part: &Value) -> Option<String> {
    let url = part.pointer("/image_url/url")?.as_str()?;
    let Some(image) = GeneratedImage::parse(url, None) else { return Some("a file that is not an image".to_owned()) };
    let size = image.size.map(|(width, height)| format!(" of {width} × {height} pixels")).unwrap_or_default();
    Some(format!("{}{size}, {} bytes", image.mime, image.bytes.len()))
}

/// Returns the next response of a script; `None` if there is no such script.
pub fn reply(request: &DemoRequest) -> Option<Vec<ScriptPiece>> {
    let mut pieces = match request.model.as_str() {
        "tour" => tour(request),
        "reasoning" => reasoning(request),
        "plain" => plain(request),
        "parallel-tools" => parallel_tools(request),
        "markdown" => vec![text(include_str!("markdown.md"))],
        "error" => error(),
        "slow" => vec![text(include_str!("slow.md"))],
        "picture" => {
            vec![text(describe_images(request)), ScriptPiece::Picture, text("That image was drawn by the demo.")]
        }
        _ => return None,
    };
    if !request.is_thinking {
        pieces.retain(|piece| !matches!(piece, ScriptPiece::Think(_)));
    }
    // Without tools there is no next step: the script continues to its end in this response.
    if !request.has_tools && pieces.iter().any(|piece| matches!(piece, ScriptPiece::Call { .. })) {
        pieces.retain(|piece| !matches!(piece, ScriptPiece::Call { .. }));
        pieces.extend(reply(&DemoRequest { step: request.step + 1, ..request.clone() })?);
    }
    Some(pieces)
}

fn text(text: impl Into<String>) -> ScriptPiece {
    ScriptPiece::Text(text.into())
}

fn think(text: impl Into<String>) -> ScriptPiece {
    ScriptPiece::Think(text.into())
}

fn look_up(term: &str) -> ScriptPiece {
    ScriptPiece::Call { name: "look_up", arguments: json!({"term": term}) }
}

fn count_words(text: &str) -> ScriptPiece {
    ScriptPiece::Call { name: "count_words", arguments: json!({"text": text}) }
}

/// Shortens a message to one line of 60 characters.
fn gist(message: &str) -> String {
    const LONGEST: usize = 60;
    let line = message.split_whitespace().collect::<Vec<_>>().join(" ");
    if line.chars().count() <= LONGEST { line } else { line.chars().take(LONGEST).collect::<String>() + "…" }
}

fn tour(request: &DemoRequest) -> Vec<ScriptPiece> {
    if request.step == 0 {
        return vec![
            think(format!(
                "The user wrote: \"{}\". I am a script and cannot understand it, but I can show what a real model's \
                reply looks like here. First a tool call: I will count the words of the message.",
                gist(&request.text)
            )),
            count_words(&request.text),
        ];
    }
    let again = think(
        "The count is back. A real model would now reason about the result; reasoning after a tool call stays in the \
        same reasoning block. Now I can reply.",
    );
    let answer = if request.user_messages == 1 { include_str!("tour.md") } else { include_str!("tour_again.md") };
    vec![again, text(answer)]
}

fn reasoning(request: &DemoRequest) -> Vec<ScriptPiece> {
    match request.step {
        0 => vec![
            think(format!("The message is \"{}\". I start with some reasoning.", gist(&request.text))),
            text("First some text, so that the next reasoning starts a **second** block.\n\n"),
            think("This is the second block. In it, I look something up."),
            look_up("reasoning block"),
        ],
        1 => vec![
            think("The glossary replied, and I continue: reasoning, a tool call and more reasoning form one block."),
            text("The glossary explains what a reasoning block is. Now a third one, with another tool call in it.\n\n"),
            think("Third block: I count the words of the message."),
            count_words(&request.text),
        ],
        _ => vec![
            text("This text came right after the tool call, so it ended the block.\n\n"),
            think("Some last reasoning before the end."),
            text("That makes four reasoning blocks in one reply. Open them above to see what belongs to each."),
        ],
    }
}

/// Returns a text that lists the images of the message.
fn describe_images(request: &DemoRequest) -> String {
    match request.images.as_slice() {
        [] => "You sent no image; here is one of mine.\n\n".to_owned(),
        [one] => format!("You sent one image: {one}.\n\n"),
        many => format!("You sent {} images: {}.\n\n", many.len(), many.join("; ")),
    }
}

fn plain(request: &DemoRequest) -> Vec<ScriptPiece> {
    let shown = if request.images.is_empty() { String::new() } else { describe_images(request) };
    vec![text(
        shown
            + &format!(
                "This is the scripted demo. You wrote {} words; I reply with one plain paragraph, without reasoning \
                or tool calls. Choose another script, or connect a real provider, to see more.",
                request.text.split_whitespace().count()
            ),
    )]
}

fn parallel_tools(request: &DemoRequest) -> Vec<ScriptPiece> {
    match request.step {
        0 => vec![
            think("Three lookups at once: their order does not matter, so I make them in one step."),
            look_up("message"),
            look_up("branch"),
            count_words(&request.text),
        ],
        1 => vec![
            text("All three calls have results. Two more, one of which will fail:\n\n"),
            look_up("version"),
            look_up("unicorn"),
        ],
        _ => vec![text(
            "Five calls in two steps. Each card shows its own arguments and result; the last one shows a failed call.",
        )],
    }
}

fn error() -> Vec<ScriptPiece> {
    vec![
        text(
            "This reply fails on purpose. The partial reply is saved, and below it you see what happened and a button \
            to",
        ),
        ScriptPiece::Fail { code: "server_is_overloaded", message: "Scripted: the demo pretends to be overloaded." },
    ]
}
