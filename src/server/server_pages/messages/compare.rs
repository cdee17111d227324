//! Messages of the comparison of two paths and of reruns, in both languages.

use crate::domain::rerun::{RerunPauseReason, RerunStatus};
use crate::domain::{InvalidField, TurnStatus};
use crate::ui::locale::{define_messages, join_list, localized_word, message};
use turnleaf_service::branches::compare::SAME_TURN_REASON;
use turnleaf_service::turns::membership::OTHER_CHAT_REASON;

pub use crate::ui::messages::compare as title;

define_messages! {
    choose: "Branches to compare", "要比较的分支";
    left: "Left", "左侧";
    right: "Right", "右侧";
    this_turn: "The message you chose", "先前选择的消息";
    not_chosen: "Choose a branch", "选择分支";
    compare: "Compare", "比较";
    swap: "Swap sides", "交换两侧";
    one_branch: "This chat has only one branch so far. Edit a message, try a reply again or ask the path again below to get another.", "此对话目前只有一个分支。编辑消息、重试回复，或在下方重新提问此路径，即可得到另一个分支。";
    open: "Open", "打开";
    open_in_chat: "Open in the chat", "在对话中打开";
    summary: "Summary", "摘要";
    summary_table: "What each side used and took, behind the last common message", "最后一条共同消息之后，两侧各自使用的模型和用量";
    branch: "Branch", "分支";
    models: "Answered by", "回答模型";
    messages: "Messages", "消息";
    replies: "Replies", "回复";
    tokens_in: "Tokens in", "输入 token";
    tokens_out: "Tokens out", "输出 token";
    cost: "Cost, US dollars", "费用（美元）";
    first_words: "First words after, on average", "平均首字用时";
    total_time: "Time of all replies", "回复总用时";
    tools: "Tools called", "调用的工具";
    no_tools: "none", "无";
    ends_here: "This side ends at the last common message: the other goes on from it.", "此侧止于最后一条共同消息，另一侧由此继续。";
    no_common: "The two paths have nothing in common: they begin with different messages.", "两条路径没有共同之处，从不同的消息开始。";
    common_link: "Open the last common message", "打开最后一条共同消息";
    exchanges: "Message by message", "逐轮对照";
    legend: "How to read this:", "图例：";
    legend_removed: "only on the left", "仅左侧有";
    legend_added: "only on the right", "仅右侧有";
    removed: "only left: ", "仅左侧：";
    added: "only right: ", "仅右侧：";
    end_of_change: " (end)", "（结束）";
    same_message: "The same message on both sides", "两侧的消息相同";
    same_reply: "Both replies are the same, word for word.", "两条回复一字不差。";
    message: "Message", "消息";
    replied: "Reply", "回复";
    nothing_here: "This side has nothing here.", "此侧在这里没有内容。";
    no_message: "Another reply to the last common message.", "对最后一条共同消息的另一条回复。";
    no_reply: "No reply.", "没有回复。";
    no_text: "The reply has no text.", "此回复没有文字。";
    by_lines: "These texts are very long, so whole lines are compared.", "文字很长，因此按整行比较。";
    different: "These texts have little in common, so their words are not marked.", "两段文字差异很大，因此未逐词标记。";
    first: "first words", "首字";
    whole: "whole reply", "完整回复";
    newer: "Next exchanges", "后面的轮次";
    older: "Previous exchanges", "前面的轮次";
    pages: "Pages of the comparison", "比较结果分页";

    rerun: "Ask this path again with another model", "用其他模型重新提问此路径";
    rerun_hint: "Every message of the path is asked again, one after the other, on a new branch. Nothing that is there changes. It goes on by itself when you leave.", "路径上的每条消息会在新分支上依次重新提问。已有内容不会改变。你离开后也会自行继续。";
    rerun_path: "Path", "路径";
    rerun_model: "Model", "模型";
    rerun_start: "Begin", "起点";
    from_common: "Behind the last common message", "最后一条共同消息之后";
    from_root: "At the first message of the chat", "对话的第一条消息";
    start_rerun: "Ask again", "重新提问";
    reruns: "Paths asked again", "重新提问的路径";
    rerun_title: "A path asked again", "重新提问的路径";
    cancel: "Cancel", "取消";
    cancel_hint: "Cancel also stops the reply that is being written.", "取消也会停止正在生成的回复。";
    resume: "Resume", "继续";
    open_new: "Open the new branch", "打开新分支";
    open_old: "Open the old path", "打开旧路径";
    compare_both: "Compare the old path with the new one", "比较新旧路径";
    to_comparison: "Compare branches", "比较分支";
    refreshes: "This page looks again by itself every few seconds.", "此页面每隔几秒自动刷新。";
    ask_again_hint: "Resume asks the message again whose reply is not complete, beside that reply.", "“继续”会重新提问回复不完整的那条消息，新回复与原回复并列。";
    rerun_finished: "Nothing more comes of it; the branch stays and you can go on with it in the chat.", "不会再继续；分支会保留，你可以在对话中接着使用。";
}

/// Differences are marked when the texts have at least this share in common, in percent.
pub const LITTLE_IN_COMMON_PERCENT: u8 = 25;

pub fn common_turns(turns: usize) -> String {
    match turns {
        1 => localized_word("The two paths share their first message.", "两条路径的第一条消息相同。").to_owned(),
        turns => message!(
            "The two paths share their first {turns} messages and replies.",
            "两条路径的前 {turns} 条消息和回复相同。"
        ),
    }
}

pub fn exchange(number: usize) -> String {
    message!("Exchange {number}", "第 {number} 轮")
}

pub fn exchange_range(first: usize, last: usize, total: usize) -> String {
    message!("Exchanges {first} to {last} of {total}", "第 {first} 至 {last} 轮，共 {total} 轮")
}

pub fn same_percent(percent: u8) -> String {
    message!("{percent} % the same", "{percent}% 相同")
}

/// Returns the suffix of "Open in the chat", for the accessible name of the link.
pub fn exchange_suffix(number: usize, side: &str) -> String {
    let side = side.to_lowercase();
    message!(": exchange {number}, {side} side", "：第 {number} 轮，{side}")
}

pub fn tool_calls(name: &str, calls: usize) -> String {
    if calls == 1 { name.to_owned() } else { format!("{name} × {calls}") }
}

pub fn unfinished(counts: impl Iterator<Item = (&'static str, usize)>) -> String {
    let words = counts.map(|(status, count)| {
        let ending = TurnStatus::parse(status).and_then(crate::ui::messages::transcript::ending).unwrap_or(status);
        message!("{count} {ending}", "{count} 条{ending}")
    });
    join_list(&words.collect::<Vec<_>>())
}

pub fn invalid_rerun(invalid: &InvalidField) -> String {
    match (invalid.field.as_str(), invalid.reason.as_str()) {
        (_, SAME_TURN_REASON) => localized_word("Choose two different branches.", "请选择两个不同的分支。").to_owned(),
        (_, OTHER_CHAT_REASON) => {
            localized_word("A turn of another chat cannot be compared with this one.", "不能与其他对话的消息比较。")
                .to_owned()
        }
        _ => invalid.to_string(),
    }
}

/// Returns the reason why a rerun was refused, by the code in the address.
pub fn rerun_refused(code: &str) -> String {
    let why = match code {
        "nothing_to_ask" => {
            localized_word("There is no message on this path to ask again.", "此路径上没有可重新提问的消息。")
        }
        "graft_too_long" => localized_word(
            "This path has more messages than are asked again in one go.",
            "此路径的消息数超过了一次重新提问的上限。",
        ),
        "too_many_branches" => {
            localized_word("This chat has as many branches as a chat can have.", "此对话的分支数已达上限。")
        }
        "too_many_siblings" => {
            localized_word("There are as many versions of this message as a chat can have.", "此消息的版本数已达上限。")
        }
        "turn_running" => localized_word(
            "Wait until the reply before the first message is complete.",
            "请等第一条消息之前的回复完成。",
        ),
        "too_many" => {
            localized_word("Too many replies run at once. Try again in a moment.", "同时进行的回复过多，请稍后重试。")
        }
        "model" => {
            localized_word("This model cannot be used here. Choose another one.", "此处无法使用该模型，请另选一个。")
        }
        "not_paused" => localized_word("This is not paused any more.", "已不再处于暂停状态。"),
        _ => localized_word("This could not be asked again.", "无法重新提问。"),
    };
    why.to_owned()
}

pub fn rerun_progress(status: RerunStatus, asked: u32, total: usize) -> String {
    match status {
        RerunStatus::Running => {
            message!("Message {asked} of {total} is being answered", "正在回答第 {asked} 条消息，共 {total} 条")
        }
        RerunStatus::Paused => {
            let asked = asked.max(1);
            message!("Paused at message {asked} of {total}", "已暂停在第 {asked} 条消息，共 {total} 条")
        }
        RerunStatus::Done if total == 1 => {
            localized_word("The message was asked and answered", "消息已提问并得到回答").to_owned()
        }
        RerunStatus::Done => {
            message!("All {total} messages were asked and answered", "{total} 条消息均已提问并得到回答")
        }
        RerunStatus::Cancelled => {
            message!("Cancelled after message {asked} of {total}", "已在第 {asked} 条消息后取消，共 {total} 条")
        }
    }
}

pub fn pause_reason(reason: RerunPauseReason) -> &'static str {
    match reason {
        RerunPauseReason::ReplyFailed => localized_word("The last reply failed.", "上一条回复失败。"),
        RerunPauseReason::ReplyStopped => localized_word("The last reply was stopped.", "上一条回复已停止。"),
        RerunPauseReason::ServerRestarted => localized_word(
            "The server restarted. Nothing is asked again by itself after that.",
            "服务器已重启，此后不会自动重新提问。",
        ),
        RerunPauseReason::LimitReached => localized_word("A limit of the chat is reached.", "已达到此对话的限制。"),
        RerunPauseReason::ModelUnavailable => localized_word(
            "The model's provider is not configured on this server any more.",
            "该模型的服务商已不在此服务器的配置中。",
        ),
        RerunPauseReason::Busy => localized_word("Too many replies ran at once.", "同时进行的回复过多。"),
        RerunPauseReason::Gone => {
            localized_word("A message or reply that it needs was deleted.", "所需的消息或回复已被删除。")
        }
        RerunPauseReason::Refused => localized_word("The next message could not be asked.", "无法提问下一条消息。"),
        RerunPauseReason::Internal => localized_word("Something went wrong on this server.", "此服务器出现问题。"),
    }
}

pub fn rerun_of_branch(branch: &str) -> String {
    message!("On the branch “{branch}”", "在分支“{branch}”上")
}

/// Returns the label of folded unchanged lines.
pub fn same_lines(count: usize) -> String {
    message!("{count} lines are the same", "{count} 行相同")
}
