//! Replies of the demo: one function per script that maps the request and the step of the reply to the next pieces.
//! A message in Chinese gets its reply in Chinese, any other in English.

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
    /// The language of the answer, which is that of the newest user message: Chinese, or else English.
    pub is_chinese: bool,
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
        let newest = text(&messages[last]);
        let is_chinese = is_chinese(&newest);
        Some(Self {
            model: body.get("model")?.as_str()?.to_owned(),
            text: newest,
            images: parts(&messages[last]).iter().filter_map(|part| describe_image(part, is_chinese)).collect(),
            user_messages: messages.iter().filter(|message| role(message, "user")).count(),
            step: messages[last..].iter().filter(|message| role(message, "assistant")).count(),
            messages: messages.len(),
            words: messages.iter().map(|message| text(message).split_whitespace().count()).sum(),
            is_thinking: body.get("reasoning_effort").and_then(Value::as_str) != Some("none"),
            has_tools: body.get("tools").and_then(Value::as_array).is_some_and(|tools| !tools.is_empty()),
            is_chinese,
        })
    }

    /// Returns the text in the language of the message.
    fn localized(&self, english: &'static str, chinese: &'static str) -> &'static str {
        if self.is_chinese { chinese } else { english }
    }
}

/// Returns whether a character is Han.
pub(super) fn is_han(letter: char) -> bool {
    matches!(letter, '\u{3400}'..='\u{9fff}')
}

/// Returns whether a text is Chinese: it has Han characters, and none of the kana that Japanese has beside them.
pub(super) fn is_chinese(text: &str) -> bool {
    text.contains(is_han) && !text.contains(|letter: char| matches!(letter, '\u{3040}'..='\u{30ff}'))
}

/// Describes an image by its type and size, since the demo cannot interpret it.
fn describe_image(part: &Value, is_chinese: bool) -> Option<String> {
    let url = part.pointer("/image_url/url")?.as_str()?;
    let Some(image) = GeneratedImage::parse(url, None) else {
        return Some(if is_chinese { "一个不是图片的文件" } else { "a file that is not an image" }.to_owned());
    };
    let (mime, bytes) = (image.mime, image.bytes.len());
    Some(match (image.size, is_chinese) {
        (Some((width, height)), false) => format!("{mime} of {width} × {height} pixels, {bytes} bytes"),
        (None, false) => format!("{mime}, {bytes} bytes"),
        (Some((width, height)), true) => format!("{mime}，{width} × {height} 像素，{bytes} 字节"),
        (None, true) => format!("{mime}，{bytes} 字节"),
    })
}

/// Returns the next response of a script; `None` if there is no such script.
pub fn reply(request: &DemoRequest) -> Option<Vec<ScriptPiece>> {
    let mut pieces = match request.model.as_str() {
        "tour" => tour(request),
        "reasoning" => reasoning(request),
        "plain" => plain(request),
        "parallel-tools" => parallel_tools(request),
        "markdown" => vec![text(request.localized(include_str!("markdown.md"), include_str!("markdown.zh.md")))],
        "error" => error(request),
        "slow" => vec![text(request.localized(include_str!("slow.md"), include_str!("slow.zh.md")))],
        "picture" => vec![
            text(describe_images(request)),
            ScriptPiece::Picture,
            text(request.localized("That image was drawn by the demo.", "这张图片是演示画的。")),
        ],
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
        let gist = gist(&request.text);
        let thought = if request.is_chinese {
            format!(
                "用户写道：“{gist}”。我是一段脚本，看不懂这句话，但可以展示真实模型的回复在这里是什么样子。先调用一个工具：数一数这条消息的字数。"
            )
        } else {
            format!(
                "The user wrote: \"{gist}\". I am a script and cannot understand it, but I can show what a real \
                model's reply looks like here. First a tool call: I will count the words of the message."
            )
        };
        return vec![think(thought), count_words(&request.text)];
    }
    let again = think(request.localized(
        "The count is back. A real model would now reason about the result; reasoning after a tool call stays in the \
        same reasoning block. Now I can reply.",
        "字数已经数好。真实的模型此时会根据结果继续思考；调用工具之后的思考仍属于同一段思考过程。现在可以回复了。",
    ));
    let answer = if request.user_messages == 1 {
        request.localized(include_str!("tour.md"), include_str!("tour.zh.md"))
    } else {
        request.localized(include_str!("tour_again.md"), include_str!("tour_again.zh.md"))
    };
    vec![again, text(answer)]
}

fn reasoning(request: &DemoRequest) -> Vec<ScriptPiece> {
    let gist = gist(&request.text);
    match request.step {
        0 => vec![
            think(if request.is_chinese {
                format!("消息是“{gist}”。先思考一下。")
            } else {
                format!("The message is \"{gist}\". I start with some reasoning.")
            }),
            text(request.localized(
                "First some text, so that the next reasoning starts a **second** block.\n\n",
                "先写一些文字，这样接下来的思考就是**第二段**。\n\n",
            )),
            think(request.localized(
                "This is the second block. In it, I look something up.",
                "这是第二段思考过程，我在其中查一个词。",
            )),
            look_up(request.localized("reasoning block", "思考过程")),
        ],
        1 => vec![
            think(request.localized(
                "The glossary replied, and I continue: reasoning, a tool call and more reasoning form one block.",
                "词汇表有了答复，我接着思考：思考、调用工具、再思考，合起来是一段。",
            )),
            text(request.localized(
                "The glossary explains what a reasoning block is. Now a third one, with another tool call in it.\n\n",
                "词汇表说明了什么是思考过程。下面是第三段，其中又调用了一个工具。\n\n",
            )),
            think(
                request.localized("Third block: I count the words of the message.", "第三段：数一数这条消息的字数。"),
            ),
            count_words(&request.text),
        ],
        _ => vec![
            text(request.localized(
                "This text came right after the tool call, so it ended the block.\n\n",
                "这段文字紧跟在工具调用之后，因此第三段到此结束。\n\n",
            )),
            think(request.localized("Some last reasoning before the end.", "结束之前再思考一下。")),
            text(request.localized(
                "That makes four reasoning blocks in one reply. Open them above to see what belongs to each.",
                "这样一条回复中就有四段思考过程。展开它们，看看每一段都包含什么。",
            )),
        ],
    }
}

/// Returns a text that lists the images of the message.
fn describe_images(request: &DemoRequest) -> String {
    match (request.images.as_slice(), request.is_chinese) {
        ([], false) => "You sent no image; here is one of mine.\n\n".to_owned(),
        ([], true) => "你没有发送图片，下面是我的一张。\n\n".to_owned(),
        ([one], false) => format!("You sent one image: {one}.\n\n"),
        ([one], true) => format!("你发送了一张图片：{one}。\n\n"),
        (many, false) => format!("You sent {} images: {}.\n\n", many.len(), many.join("; ")),
        (many, true) => format!("你发送了 {} 张图片：{}。\n\n", many.len(), many.join("；")),
    }
}

fn plain(request: &DemoRequest) -> Vec<ScriptPiece> {
    let shown = if request.images.is_empty() { String::new() } else { describe_images(request) };
    let answer = if request.is_chinese {
        format!(
            "这是预先写好的演示。你写了 {} 个字；我用一段普通的文字回复，没有思考过程，也没有工具调用。想看更多，请选择其他脚本，或连接真实的服务商。",
            request.text.chars().filter(|letter| is_han(*letter)).count()
        )
    } else {
        format!(
            "This is the scripted demo. You wrote {} words; I reply with one plain paragraph, without reasoning or \
            tool calls. Choose another script, or connect a real provider, to see more.",
            request.text.split_whitespace().count()
        )
    };
    vec![text(shown + &answer)]
}

fn parallel_tools(request: &DemoRequest) -> Vec<ScriptPiece> {
    match request.step {
        0 => vec![
            think(request.localized(
                "Three lookups at once: their order does not matter, so I make them in one step.",
                "同时查三项：先后顺序无关紧要，所以放在同一步里。",
            )),
            look_up(request.localized("message", "消息")),
            look_up(request.localized("branch", "分支")),
            count_words(&request.text),
        ],
        1 => vec![
            text(request.localized(
                "All three calls have results. Two more, one of which will fail:\n\n",
                "三次调用都有了结果。再来两次，其中一次会失败：\n\n",
            )),
            look_up(request.localized("version", "版本")),
            look_up(request.localized("unicorn", "独角兽")),
        ],
        _ => vec![text(request.localized(
            "Five calls in two steps. Each card shows its own arguments and result; the last one shows a failed call.",
            "两步中共有五次调用。每张卡片都有各自的参数和结果，最后一张是失败的调用。",
        ))],
    }
}

fn error(request: &DemoRequest) -> Vec<ScriptPiece> {
    vec![
        text(request.localized(
            "This reply fails on purpose. The partial reply is saved, and below it you see what happened and a button \
            to",
            "这条回复会故意失败。已经写出的部分会保存，下方会说明发生了什么，还有一个按钮可以",
        )),
        ScriptPiece::Fail { code: "server_is_overloaded", message: "Scripted: the demo pretends to be overloaded." },
    ]
}
