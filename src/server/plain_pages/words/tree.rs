//! The words of the list of branches and of the drawing of the tree, in both languages, beside those that the tree map
//! says too.

use crate::domain::tree::outline::drawing::Drawn;
use crate::ui::locale::{counted, join, said, word, words};
pub use crate::ui::words::tree::{
    back_to_chat, branches, compare, drawing, label, mark, messages, no_branches, no_text, no_turns, pin,
    rename_branch, role, spoken_version, tree_short, unpin, version,
};

pub use crate::ui::words::trash::delete_others;

words! {
    lead: "Every branch keeps its provider and model. Pinned ones come first.", "每个分支都保持其服务商和模型。已置顶的排在最前。";
    outline: "Outline", "大纲";
    pinned: "pinned", "已置顶";
    parts: "Parts of the list", "列表分页";
    previous: "Previous branches", "前面的分支";
    next: "Next branches", "后面的分支";
    latest: "Latest:", "最新：";
    empty: "No message of its own yet.", "还没有自己的消息。";
    calls_none: "Nothing was asked of its model.", "还没有请求过它的模型。";
    root: "The beginning of the chat.", "对话的开头。";
    imported: "Imported.", "由导入而来。";
    zoom: "Size", "大小";
    here: "Where you are", "当前位置";
    up: "From the fork before", "从上一个分叉处";
    whole: "From the beginning", "从头开始";
    drawing_hint: "A box is a run of messages without a fork; it opens at its last one. The outline says the same in words.", "每个方框是一段没有分叉的消息，点开后会到最后一条。大纲以文字列出相同的内容。";
}

/// What a branch is locked to.
pub fn lock(provider: &str, model: &str) -> String {
    format!("{provider} · {model} · {}", crate::ui::words::locked())
}

/// Why a branch exists; the turn follows as a link.
pub fn origin(origin: crate::domain::Origin) -> &'static str {
    use crate::domain::Origin;
    match origin {
        Origin::Root => root(),
        Origin::Import => imported(),
        Origin::Edit => word("Edit of", "编辑自"),
        Origin::Regenerate => word("Another reply beside", "重试自"),
        Origin::ModelSwitch => word("Went on with another model after", "换用其他模型，接续自"),
        Origin::Concurrent => word("Went on at the same time after", "同时继续，接续自"),
        Origin::Fork => word("Went on in another way after", "另行继续，接续自"),
    }
}

pub fn delete_branch(turns: usize) -> String {
    if turns == 0 {
        return word("Delete this branch", "删除此分支").to_owned();
    }
    let messages = messages(turns);
    said!("Delete this branch ({messages})", "删除此分支（{messages}）")
}

/// Which part of the list is on the page.
pub fn part(from: usize, to: usize, of: usize) -> String {
    said!("{from}–{to} of {of}", "第 {from}–{to} 个，共 {of} 个")
}

/// What its calls took.
pub fn took(tokens: Option<String>, cost: Option<String>, calls: u64) -> String {
    let known: Vec<String> = tokens.into_iter().chain(cost).collect();
    if known.is_empty() {
        return counted!(
            calls;
            "Its own replies took 1 call.",
            "Its own replies took {calls} calls.";
            "自身的回复共 {calls} 次调用。"
        );
    }
    let known = known.join(word(", ", "，"));
    counted!(
        calls;
        "Its own replies took {known}, in 1 call.",
        "Its own replies took {known}, in {calls} calls.";
        "自身的回复用去 {known}，共 {calls} 次调用。"
    )
}

/// A box of the drawing, for those who hear it.
pub fn run(run: &Drawn<'_>) -> String {
    let role = role(run.first.node.role);
    let words = if run.first.words.is_empty() { no_text() } else { &run.first.words };
    let mut parts = vec![said!("{role}: {words}", "{role}：{words}"), messages(run.turns)];
    parts.extend(run.version.map(spoken_version));
    parts.extend(mark(run.mark).map(|(_, word)| word.to_owned()));
    join(&parts)
}

/// The small line in a box.
pub fn small(run: &Drawn<'_>) -> String {
    let mut parts = vec![messages(run.turns)];
    parts.extend(run.version.map(version));
    parts.extend(mark(run.mark).map(|(sign, word)| format!("{sign} {word}")));
    parts.join(" · ")
}

pub fn hidden(count: usize) -> String {
    format!("+{count}")
}

pub fn draw_hidden(count: usize) -> String {
    let messages = messages(count);
    said!("Draw the {messages} below", "画出其下的 {messages}")
}

/// What the drawing holds, for those who do not see it.
pub fn drawn(runs: usize, turns: usize, ends: usize) -> String {
    let messages = messages(turns);
    let ends = counted!(ends; "1 end", "{ends} ends"; "{ends} 个末端");
    let runs = counted!(runs; "1 box", "{runs} boxes"; "{runs} 个方框");
    said!("Drawing of the tree: {messages} with {ends}, in {runs}", "对话树图示：{messages}，{ends}，{runs}")
}

pub fn percent(zoom: u16) -> String {
    said!("{zoom} %", "{zoom}%")
}

pub fn title(what: &str, chat: &str) -> String {
    let chat = if chat.trim().is_empty() { crate::ui::words::untitled() } else { chat };
    format!("{what} · {chat}")
}
