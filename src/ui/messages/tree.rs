//! Messages of the tree, in both languages.

use crate::api::view::tree::{TreeCard, TreeRow};
use crate::domain::Role;
use crate::domain::branches::tree::outline::TurnMark;
use crate::ui::locale::{define_messages, join_list, localized_word, message, plural_message};
use crate::ui::messages::amounts::number;
use crate::ui::messages::{PRODUCT, untitled};

define_messages! {
    tree: "Chat tree", "对话树";
    tree_short: "Tree", "对话树";
    loading: "Loading chat tree…", "正在加载对话树…";
    close_tree: "Close tree", "关闭对话树";
    back_to_chat: "Back to chat", "返回对话";
    branches: "Branches", "分支";
    drawing: "Diagram", "图示";
    filter: "Messages containing", "只看包含这些文字的消息";
    apply: "Find", "查找";
    clear: "All messages", "全部消息";
    no_turns: "No messages yet.", "还没有消息。";
    no_branches: "No branches yet. Edit a message or retry a reply to create one.", "还没有分支。编辑消息或重试回复即可新建分支。";
    earlier: "Earlier rows", "前面的行";
    later: "Later rows", "后面的行";
    failed: "Could not load the tree.", "无法加载对话树。";
    selected: "Selected message", "选中的消息";
    show: "Open", "打开";
    compare: "Compare with current", "与当前分支比较";
    copy: "Copy to new chat", "复制到新对话";
    rename_branch: "Name", "名称";
    label: "Label", "标签";
    pin: "Pin", "置顶";
    unpin: "Unpin", "取消置顶";
    saved: "Saved.", "已保存。";
    open_row: "Show messages below", "显示其下的消息";
    shut_row: "Hide messages below", "隐藏其下的消息";
    more_for_turn: "Message actions", "消息操作";
    branch_actions: "Branch actions", "分支操作";
    no_text: "(no text)", "（无文字）";
    not_in_sight: "No visible row starts with this. Use the filter to search the whole tree.",
        "屏幕上没有以此开头的行。可用筛选查找整个对话树。";
    you_are_here: "you are here", "当前位置";
}

pub fn role(role: Role) -> &'static str {
    match role {
        Role::User => localized_word("You", "你"),
        Role::Assistant => localized_word("Reply", "回复"),
        Role::System => localized_word("System", "系统"),
    }
}

/// The state of a turn with its sign; none for a complete one.
pub fn mark(mark: TurnMark) -> Option<(&'static str, &'static str)> {
    match mark {
        TurnMark::Plain => None,
        TurnMark::Stopped => Some(("■", localized_word("stopped", "已停止"))),
        TurnMark::Failed => Some(("!", localized_word("failed", "失败"))),
        TurnMark::Running => Some(("●", localized_word("in progress", "正在生成"))),
    }
}

pub fn messages(count: usize) -> String {
    let many = number(count as u64);
    plural_message!(count; "1 message", "{many} messages"; "{many} 条消息")
}

/// The number of turns that a collapsed row hides.
pub fn more(count: usize) -> String {
    format!("+{}", number(count as u64))
}

pub fn version((number, count): (usize, usize)) -> String {
    format!("{number}/{count}")
}

/// The version for screen readers.
pub fn spoken_version((number, count): (usize, usize)) -> String {
    message!("version {number} of {count}", "第 {number} 版（共 {count} 版）")
}

/// The accessible name of a row: the visible text first (WCAG 2.5.3), then the rest in words.
pub fn row(row: &TreeRow) -> String {
    if let Some(count) = row.folded {
        return messages(count);
    }
    let (author, words) = (role(row.role), if row.words.is_empty() { no_text() } else { &row.words });
    let mut seen = vec![message!("{author}: {words}", "{author}：{words}")];
    seen.extend(row.version.map(version));
    seen.extend(mark(row.mark).map(|(sign, word)| format!("{sign} {word}")));
    seen.extend(row.model.clone());
    seen.extend(row.label.clone());
    if row.hidden > 0 {
        seen.push(more(row.hidden));
    }
    let mut parts = vec![seen.join(" ")];
    parts.extend(row.version.map(spoken_version));
    parts.extend(row.model.as_ref().map(|model| message!("switched to {model}", "已切换到 {model}")));
    if row.hidden > 0 {
        let below = messages(row.hidden);
        parts.push(message!("{below} below", "其下有 {below}"));
    }
    if row.is_leaf {
        parts.push(you_are_here().into());
    }
    join_list(&parts)
}

/// The label of the tree button in the header.
pub fn ends(leaves: u64) -> String {
    let many = number(leaves);
    plural_message!(leaves; "Tree, 1 branch", "Tree, {many} branches"; "对话树，{many} 个分支")
}

pub fn branch_count(count: usize) -> String {
    let many = number(count as u64);
    plural_message!(count; "1 branch", "{many} branches"; "{many} 个分支")
}

/// The size of the tree, and the number of search hits.
pub fn summary(turns: usize, leaves: usize, hits: Option<usize>) -> String {
    let all = messages(turns);
    match hits {
        None => join_list(&[all, branch_count(leaves)]),
        Some(0) => message!("No matches in {all}", "在 {all}中没有找到"),
        Some(hits) => {
            let many = number(hits as u64);
            plural_message!(hits; "1 match in {all}", "{many} matches in {all}"; "在 {all}中找到 {many} 条")
        }
    }
}

/// The position of a turn in the tree, on its card.
pub fn below(card: &TreeCard) -> String {
    let (below, ends) = (messages(card.below), branch_count(card.ends));
    match (card.below, card.ends) {
        (0, _) => localized_word("No messages below.", "其下没有消息。").to_owned(),
        (_, 1) => message!("{below} below.", "其下有 {below}。"),
        _ => message!("{below} below, on {ends}.", "其下有 {below}，分属 {ends}。"),
    }
}

pub fn document_title(title: &str) -> String {
    let (tree, title) = (tree_short(), if title.is_empty() { untitled() } else { title });
    format!("{tree} · {title} · {PRODUCT}")
}
