//! Messages of the comparison of two paths and of reruns, in both languages.

use crate::domain::branches::rerun::{RerunPauseReason, RerunStatus};
use crate::domain::{InvalidField, MessageCode, TurnStatus};
use crate::ui::locale::coded_messages::field_error_sentence;
use crate::ui::locale::{define_messages, join_list, localized_word, message};
use crate::ui::messages::amounts::number;
use crate::ui::messages::branches::branch_name;

pub use crate::ui::messages::compare as title;

define_messages! {
    choose: "Branches to compare", "要比较的分支";
    left: "Left", "左侧";
    right: "Right", "右侧";
    this_turn: "Selected message", "选中的消息";
    not_chosen: "Choose a branch", "选择分支";
    compare: "Compare", "比较";
    swap: "Swap sides", "交换两侧";
    one_branch: "This chat has only one branch. Edit a message, retry a reply, or rerun this branch below to create \
        another.", "此对话目前只有一个分支。编辑消息、重试回复，或在下方重新运行此分支，即可得到另一个分支。";
    open: "Open", "打开";
    open_in_chat: "Open in chat", "在对话中打开";
    summary: "Summary", "摘要";
    summary_table: "Models and usage of each side after the last common message", "最后一条共同消息之后，两侧各自使用的模型和用量";
    branch: "Branch", "分支";
    models: "Model", "模型";
    messages: "Messages", "消息";
    replies: "Replies", "回复";
    tokens_in: "Input tokens", "输入 token";
    tokens_out: "Output tokens", "输出 token";
    cost: "Cost (US$)", "费用（美元）";
    first_words: "Average time to first token", "平均首字用时";
    total_time: "Total reply time", "回复总用时";
    tools: "Tool calls", "工具调用";
    no_tools: "none", "无";
    ends_here: "This side ends at the last common message; the other side continues from it.", "此侧止于最后一条共同消息，另一侧由此继续。";
    no_common: "The two branches have nothing in common; they start with different messages.",
        "两个分支没有共同之处，从不同的消息开始。";
    common_link: "Open the last common message", "打开最后一条共同消息";
    exchanges: "Message by message", "逐条对照";
    legend: "How to read this:", "图例：";
    legend_removed: "only on the left", "仅左侧有";
    legend_added: "only on the right", "仅右侧有";
    removed: "only left: ", "仅左侧：";
    added: "only right: ", "仅右侧：";
    end_of_change: " (end)", "（结束）";
    same_message: "The same message on both sides", "两侧的消息相同";
    same_reply: "Both replies are identical.", "两条回复完全相同。";
    message: "Message", "消息";
    replied: "Reply", "回复";
    nothing_here: "Nothing on this side.", "此侧在这里没有内容。";
    no_message: "Another reply to the last common message.", "对最后一条共同消息的另一条回复。";
    no_reply: "No reply.", "没有回复。";
    no_text: "The reply has no text.", "此回复没有文字。";
    by_lines: "These texts are very long, so they are compared line by line.", "文字很长，因此按整行比较。";
    different: "These texts differ too much to mark individual words.", "两段文字差异很大，因此未逐词标记。";
    first: "first token", "首字";
    whole: "whole reply", "完整回复";
    newer: "Next messages", "后面的消息";
    older: "Previous messages", "前面的消息";
    pages: "Pages of the comparison", "比较结果分页";

    rerun: "Rerun this branch with another model", "用其他模型重新运行此分支";
    rerun_hint: "Sends every message of this branch again, one after another, on a new branch. Existing messages do \
        not change. It continues in the background when you leave.", "此分支的每条消息会在新分支上依次重新发送。已有内容不会改变。离开页面后仍会在后台继续。";
    rerun_branch: "Branch", "分支";
    rerun_model: "Model", "模型";
    rerun_start: "Start from", "起点";
    from_common: "After the last common message", "最后一条共同消息之后";
    from_root: "The first message of the chat", "对话的第一条消息";
    start_rerun: "Rerun", "重新运行";
    reruns: "Reruns", "重新运行";
    rerun_title: "Rerun", "重新运行";
    cancel: "Cancel", "取消";
    cancel_hint: "Cancel also stops the reply that is being generated.", "取消也会停止正在生成的回复。";
    resume: "Resume", "继续";
    open_new: "Open new branch", "打开新分支";
    open_old: "Open original branch", "打开原分支";
    compare_both: "Compare original and rerun", "比较原分支与重新运行的结果";
    to_comparison: "Compare branches", "比较分支";
    refreshes: "This page refreshes every few seconds.", "此页面每隔几秒自动刷新。";
    ask_again_hint: "Resume resends the message whose reply is incomplete. The new reply becomes another version.",
        "“继续”会重新发送回复不完整的那条消息，新回复会成为另一个版本。";
    rerun_finished: "Finished. You can continue this branch in the chat.", "已结束。你可以在对话中继续此分支。";
}

/// Differences are marked when the texts have at least this share in common, in percent.
pub const LITTLE_IN_COMMON_PERCENT: u8 = 25;

pub fn common_turns(turns: usize) -> String {
    match turns {
        1 => localized_word("The two branches share their first message.", "两个分支的第一条消息相同。").to_owned(),
        turns => {
            let turns = number(turns as u64);
            message!(
                "The two branches share their first {turns} messages and replies.",
                "两个分支的前 {turns} 条消息和回复相同。"
            )
        }
    }
}

pub fn exchange(number: usize) -> String {
    message!("Message {number}", "第 {number} 条消息")
}

pub fn exchange_range(first: usize, last: usize, total: usize) -> String {
    let [first, last, total] = [first, last, total].map(|position| number(position as u64));
    message!("Messages {first}–{last} of {total}", "第 {first}–{last} 条消息，共 {total} 条")
}

pub fn same_percent(percent: u8) -> String {
    message!("{percent}% identical", "{percent}% 相同")
}

/// Returns the suffix of "Open in chat", for the accessible name of the link.
pub fn exchange_suffix(number: usize, side: &str) -> String {
    let side = side.to_lowercase();
    message!(": message {number}, {side} side", "：第 {number} 条消息，{side}")
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
    match invalid.reason.code {
        MessageCode::SameTurn => localized_word("Choose two different branches.", "请选择两个不同的分支。").to_owned(),
        MessageCode::OtherChat => {
            localized_word("Messages from different chats cannot be compared.", "不能比较不同对话的消息。").to_owned()
        }
        _ => field_error_sentence(invalid),
    }
}

/// Returns the reason why a rerun was refused, by the code in the address.
pub fn rerun_refused(code: &str) -> String {
    let reason = match code {
        "nothing_to_ask" => {
            localized_word("There is no message on this branch to rerun.", "此分支上没有可重新运行的消息。")
        }
        "graft_too_long" => localized_word(
            "This branch has too many messages for one rerun.",
            "此分支的消息数超过了一次重新运行的上限。",
        ),
        "too_many_branches" => {
            localized_word("This chat has reached its limit of branches.", "此对话的分支数已达上限。")
        }
        "too_many_siblings" => {
            localized_word("This message has reached its limit of versions.", "此消息的版本数已达上限。")
        }
        "turn_running" => localized_word(
            "Wait until the reply before the first message is finished.",
            "请等第一条消息之前的回复完成。",
        ),
        "too_many" => localized_word(
            "Too many replies are being generated. Try again in a moment.",
            "正在生成的回复过多，请稍后重试。",
        ),
        "model" => {
            localized_word("This model cannot be used here. Choose another one.", "此处无法使用该模型，请另选一个。")
        }
        "not_paused" => localized_word("This rerun is no longer paused.", "此次重新运行已不再处于暂停状态。"),
        _ => localized_word("The rerun could not be started.", "无法重新运行。"),
    };
    reason.to_owned()
}

pub fn rerun_progress(status: RerunStatus, sent: u32, total: usize) -> String {
    match status {
        RerunStatus::Running => {
            message!("Rerunning message {sent} of {total}", "正在重新运行第 {sent} 条消息，共 {total} 条")
        }
        RerunStatus::Paused => {
            let sent = sent.max(1);
            message!("Paused at message {sent} of {total}", "已在第 {sent} 条消息处暂停，共 {total} 条")
        }
        RerunStatus::Done if total == 1 => localized_word("The message was rerun", "消息已重新运行").to_owned(),
        RerunStatus::Done => {
            message!("All {total} messages were rerun", "{total} 条消息均已重新运行")
        }
        RerunStatus::Cancelled => {
            message!("Cancelled after message {sent} of {total}", "已在第 {sent} 条消息后取消，共 {total} 条")
        }
    }
}

pub fn pause_reason(reason: RerunPauseReason) -> &'static str {
    match reason {
        RerunPauseReason::ReplyFailed => localized_word("The last reply failed.", "上一条回复失败。"),
        RerunPauseReason::ReplyStopped => localized_word("The last reply was stopped.", "上一条回复已停止。"),
        RerunPauseReason::ServerRestarted => {
            localized_word("The server restarted. Select Resume to continue.", "服务器已重启。点按“继续”即可接着运行。")
        }
        RerunPauseReason::LimitReached => localized_word("The chat has reached a limit.", "已达到此对话的限制。"),
        RerunPauseReason::ModelUnavailable => localized_word(
            "The model's provider is no longer configured on this server.",
            "该模型的服务商已不在此服务器的配置中。",
        ),
        RerunPauseReason::Busy => localized_word("Too many replies were being generated.", "正在生成的回复过多。"),
        RerunPauseReason::Gone => {
            localized_word("A message or reply it depends on was deleted.", "所需的消息或回复已被删除。")
        }
        RerunPauseReason::Refused => localized_word("The next message could not be sent.", "无法发送下一条消息。"),
        RerunPauseReason::Internal => localized_word("Something went wrong on this server.", "服务器出错了。"),
    }
}

pub fn rerun_of_branch(branch: &str) -> String {
    let branch = branch_name(branch);
    message!("On branch “{branch}”", "在分支“{branch}”上")
}

/// Returns the label of folded unchanged lines.
pub fn same_lines(count: usize) -> String {
    let count = number(count as u64);
    message!("{count} identical lines", "{count} 行相同")
}
