//! Messages of the list of branches and the tree drawing, in both languages, besides those shared with the tree page.

use crate::domain::branches::tree::outline::drawing::DrawnRun;
use crate::ui::locale::{define_messages, join_list, localized_word, message, plural_message};
use crate::ui::messages::amounts::number;
pub use crate::ui::messages::tree::{
    back_to_chat, branch_actions, branch_count, branches, compare, drawing, label, mark, messages, no_branches,
    no_text, no_turns, pin, rename_branch, role, spoken_version, tree_short, unpin, version,
};

pub use crate::ui::messages::trash::delete_others;

define_messages! {
    lead: "Each branch keeps its provider and model. Pinned branches come first.", "每个分支都保持其服务商和模型。已置顶的排在最前。";
    outline: "Outline", "大纲";
    pinned: "pinned", "已置顶";
    parts: "Pages", "列表分页";
    previous: "Previous branches", "前面的分支";
    next: "Next branches", "后面的分支";
    latest: "Latest:", "最新：";
    empty: "No messages yet.", "还没有消息。";
    calls_none: "No requests yet.", "还没有请求。";
    root: "Start of the chat.", "对话的开头。";
    imported: "Imported.", "由导入而来。";
    zoom: "Zoom", "缩放";
    current_place: "Your position", "当前位置";
    from_previous_fork: "From the previous fork", "从上一个分叉处";
    from_beginning: "From the beginning", "从头开始";
    drawing_hint: "Each box is a series of messages without a branch point and opens the last one. The outline shows \
        the same as text.", "每个方框是一段没有分叉的消息，点开后会到最后一条。大纲以文字列出相同的内容。";
}

/// Returns the provider and model of a branch.
pub fn lock_description(provider: &str, model: &str) -> String {
    format!("{provider} · {model}")
}

/// Returns the origin of a branch; a link to the turn follows.
pub fn branch_origin(origin: crate::domain::BranchOrigin) -> &'static str {
    use crate::domain::BranchOrigin;
    match origin {
        BranchOrigin::Root => root(),
        BranchOrigin::Import => imported(),
        BranchOrigin::Edit => localized_word("Edit of", "编辑自"),
        BranchOrigin::Regenerate => localized_word("Retry of", "重试自"),
        BranchOrigin::ModelSwitch => localized_word("Switched model after", "换用其他模型，分支自"),
        BranchOrigin::Concurrent => localized_word("Branched at the same time from", "同时继续，分支自"),
        BranchOrigin::Fork => localized_word("Branched from", "分支自"),
    }
}

pub fn delete_branch(turns: usize) -> String {
    if turns == 0 {
        return localized_word("Delete this branch", "删除此分支").to_owned();
    }
    let messages = messages(turns);
    message!("Delete this branch ({messages})", "删除此分支（{messages}）")
}

/// Returns the position of the shown part of the list.
pub fn list_part(from: usize, to: usize, of: usize) -> String {
    let [from, to, of] = [from, to, of].map(|position| number(position as u64));
    message!("{from}–{to} of {of}", "第 {from}–{to} 个，共 {of} 个")
}

/// Returns the usage of a branch's own calls.
pub fn branch_usage(tokens: Option<String>, cost: Option<String>, calls: u64) -> String {
    let many = number(calls);
    let known: Vec<String> = tokens.into_iter().chain(cost).collect();
    if known.is_empty() {
        return plural_message!(
            calls;
            "Replies on this branch: 1 request.",
            "Replies on this branch: {many} requests.";
            "此分支的回复共 {many} 次请求。"
        );
    }
    let known = known.join(localized_word(", ", "，"));
    plural_message!(
        calls;
        "Replies on this branch: {known}, 1 request.",
        "Replies on this branch: {known}, {many} requests.";
        "此分支的回复用去 {known}，共 {many} 次请求。"
    )
}

/// Returns the accessible name of a box of the drawing.
pub fn run_description(run: &DrawnRun<'_>) -> String {
    let role = role(run.first.node.role);
    let words = if run.first.words.is_empty() { no_text() } else { &run.first.words };
    let mut parts = vec![message!("{role}: {words}", "{role}：{words}"), messages(run.turns)];
    parts.extend(run.version.map(spoken_version));
    parts.extend(mark(run.mark).map(|(_, word)| word.to_owned()));
    join_list(&parts)
}

/// Returns the caption of a box.
pub fn run_caption(run: &DrawnRun<'_>) -> String {
    let mut parts = vec![messages(run.turns)];
    parts.extend(run.version.map(version));
    parts.extend(mark(run.mark).map(|(sign, word)| format!("{sign} {word}")));
    parts.join(" · ")
}

pub fn hidden_branches(count: usize) -> String {
    format!("+{}", number(count as u64))
}

pub fn show_hidden_branches(count: usize) -> String {
    let messages = messages(count);
    message!("Show the {messages} below", "显示其下的 {messages}")
}

/// Returns the accessible name of the drawing.
pub fn drawing_description(runs: usize, turns: usize, ends: usize) -> String {
    let messages = messages(turns);
    let (ends, many) = (branch_count(ends), number(runs as u64));
    let runs = plural_message!(runs; "1 box", "{many} boxes"; "{many} 个方框");
    message!("Tree diagram: {messages}, {ends}, {runs}", "对话树图示：{messages}，{ends}，{runs}")
}

pub fn percent(zoom: u16) -> String {
    message!("{zoom}%", "{zoom}%")
}

pub fn tree_page_title(page: &str, chat: &str) -> String {
    let chat = if chat.trim().is_empty() { crate::ui::messages::untitled() } else { chat };
    format!("{page} · {chat}")
}
