//! Messages of the page of a reply's requests, in both languages.

use crate::domain::TurnStatus;
use crate::domain::attachment::AttachmentRendering;
use crate::domain::context::{ReplayMode, ReplayReason};
use crate::server::server_pages::sent_request::request_parts::RequestPart;
use crate::ui::locale::{define_messages, localized_word, message, plural_message};
use crate::ui::messages::usage;
use turnleaf_service::turns::generations::GenerationStatus;

pub use crate::ui::messages::transcript::what_was_sent as title;
pub use crate::ui::messages::tree::{no_text as no_words, role as who};

define_messages! {
    lead: "Every message that went to the model for this reply, in its order: in which form, and which version of what was attached. The system prompt and the descriptions of the tools go along, and are not listed here.", "为此回复发给模型的每条消息，按顺序列出：以何种形式发送，附件用的是哪个版本。系统提示词和工具说明也一并发送，此处不列出。";
    not_yet: "Nothing was sent up to now.", "目前还没有发送任何内容。";
    failed_before: "The reply failed before anything was sent.", "回复在发送任何内容之前就失败了。";
    no_model_asked: "No model was asked for this: a person wrote it, or it was brought from elsewhere.", "此内容没有请求过模型：由人撰写，或从别处导入。";
    requests: "Requests", "请求";
    facts: "The request", "请求";
    model: "Model", "模型";
    answered_by: "Answered by", "回答模型";
    sent_at: "Sent", "发送时间";
    first_words: "First words after", "首字用时";
    ended_label: "Ended", "结束状态";
    tokens_label: "Tokens", "token";
    cost: "Cost", "费用";
    parameters: "Parameters", "参数";
    repaired: "Sent again", "重新发送";
    goes_on: "Goes on from", "接续自";
    messages: "Messages in it", "其中的消息";
    not_on_path: "(not on this path any more)", "（已不在此路径上）";
    unreadable: "What went into this request was written down by another version of Turnleaf, and cannot be shown here. It is in the JSON.", "此请求的内容由另一版本的 Turnleaf 记录，无法在此显示，可在 JSON 中查看。";
    token_breakdown: "What is big", "哪些内容占用多";
    token_breakdown_hint: "Roughly how much each kind of what went along is.", "随请求发送的各类内容的大致占用。";
    largest: "The largest messages", "占用最多的消息";
    raw_response: "The provider's answer, byte for byte", "服务商的原始响应";
    raw_response_title: "The provider's answer", "服务商的响应";
    raw_response_lead: "What the provider sent for this reply, byte for byte, before anything was made of it. Our own keys are taken out; nothing else is.", "服务商为此回复发来的原始数据，逐字节保留，未经任何处理。仅去除了本站自己的密钥。";
    raw_response_text: "The answer as it came", "收到的原始响应";
    raw_response_missing: "Nothing of it is kept.", "没有保存任何内容。";
    view_raw_response: "Look at the provider's answer", "查看服务商的响应";
    download_raw_response: "All of it as a file", "全部保存为文件";
    as_json: "All of this as JSON", "以 JSON 查看全部内容";
}

/// Returns the name of a part of a request.
pub fn part_name(part: RequestPart) -> &'static str {
    match part {
        RequestPart::Prompt => localized_word("System prompt", "系统提示词"),
        RequestPart::Tools => localized_word("Descriptions of tools", "工具说明"),
        RequestPart::Messages => localized_word("Your messages", "你的消息"),
        RequestPart::Replies => localized_word("Replies", "回复"),
        RequestPart::Attachments => localized_word("Attachments", "附件"),
        RequestPart::Results => localized_word("Results of tools", "工具结果"),
        RequestPart::Unlisted => localized_word("Earlier messages", "更早的消息"),
    }
}

pub fn request(number: usize) -> String {
    message!("Request {number}", "请求 {number}")
}

/// Returns the position of the shown request.
pub fn request_of(number: usize, all: usize) -> String {
    if all == 1 { facts().to_owned() } else { message!("Request {number} of {all}", "请求 {number}，共 {all} 个") }
}

/// Returns the form in which a turn was sent, and the reason.
pub fn form_and_reason(mode: ReplayMode, reason: ReplayReason) -> &'static str {
    match (mode, reason) {
        (_, ReplayReason::SameLock) => localized_word("as the provider wrote it", "按服务商的原样"),
        (ReplayMode::Omitted, ReplayReason::KeptByProvider) => {
            localized_word("kept by the provider, not sent again", "由服务商保存，未再次发送")
        }
        (_, ReplayReason::KeptByProvider) => {
            localized_word("only what is new; the provider keeps the rest", "仅发送新增内容，其余由服务商保存")
        }
        (ReplayMode::Omitted, ReplayReason::Empty) => localized_word("not sent: nothing in it", "未发送：没有内容"),
        (ReplayMode::Omitted, _) => localized_word("not sent", "未发送"),
        (_, ReplayReason::FromBlocks) => localized_word("as it was written", "按原文"),
        (_, ReplayReason::ModelBreak) => {
            localized_word("as plain text: another model wrote it", "以纯文本发送：由另一模型撰写")
        }
        (_, ReplayReason::Edited) => localized_word("as plain text: a person changed it", "以纯文本发送：经人修改"),
        (_, ReplayReason::BehindModelBreak) => {
            localized_word("as plain text: before a change of model", "以纯文本发送：在更换模型之前")
        }
        (_, ReplayReason::Partial) => {
            localized_word("the parts that came whole: it broke off", "仅发送完整的部分：内容曾中断")
        }
        (_, ReplayReason::OwnSteps) => localized_word("this reply's own steps so far", "此回复自身到目前的步骤"),
        (_, ReplayReason::RawMissing) => {
            localized_word("from its blocks: the provider's bytes are not kept", "由内容块重建：未保存服务商的原始数据")
        }
        (_, ReplayReason::Empty) => localized_word("empty", "空"),
    }
}

/// Returns the number of blocks of a turn that were not sent.
pub fn left_out(blocks: u32) -> Option<String> {
    match blocks {
        0 => None,
        _ => Some(plural_message!(blocks; "1 block left out", "{blocks} blocks left out"; "略去 {blocks} 个内容块")),
    }
}

/// Returns the sentence about older messages without a row.
pub fn earlier_messages(count: usize, tokens: u64) -> String {
    let tokens = usage::short_count(tokens);
    plural_message!(
        count;
        "Before these went 1 earlier message, ≈ {tokens} tokens; each is in the JSON.",
        "Before these went {count} earlier messages, ≈ {tokens} tokens; each is in the JSON.";
        "在此之前还发送了 {count} 条更早的消息，≈ {tokens} token；每一条都在 JSON 中。"
    )
}

pub fn shown_as(how: AttachmentRendering) -> &'static str {
    match how {
        AttachmentRendering::Text => localized_word("as text", "作为文本"),
        AttachmentRendering::Image => localized_word("as an image", "作为图片"),
        AttachmentRendering::AltText => localized_word("as words: its alternative text", "作为文字：其替代文本"),
        AttachmentRendering::Deleted => {
            localized_word("not there any more: only a line that says so", "已不存在：仅以一行文字注明")
        }
    }
}

pub fn version_of(moment: &str) -> String {
    message!("version of {moment}", "{moment} 的版本")
}

/// Returns the lines, if known, and the characters of a selection, from 1, both included.
pub fn range(lines: Option<(u64, u64)>, selection: Option<(u64, u64)>) -> String {
    let Some((from, to)) = selection else { return localized_word("all of it", "全部").to_owned() };
    let from = from + 1;
    match lines {
        Some((first, last)) if first == last => {
            message!("line {first}, characters {from}–{to}", "第 {first} 行，第 {from}–{to} 个字符")
        }
        Some((first, last)) => {
            message!("lines {first}–{last}, characters {from}–{to}", "第 {first}–{last} 行，第 {from}–{to} 个字符")
        }
        None => message!("characters {from}–{to}", "第 {from}–{to} 个字符"),
    }
}

pub fn tokens(count: u64) -> String {
    let count = usage::short_count(count);
    message!("≈ {count} tokens", "≈ {count} token")
}

/// Returns the cached part of the sum that the provider counted.
pub fn cached_tokens(count: u64) -> String {
    let count = usage::short_count(count);
    message!("{count} of it from cache", "其中 {count} 来自缓存")
}

pub fn reasoning_tokens(count: u64) -> String {
    let count = usage::short_count(count);
    message!("{count} of it reasoning", "其中 {count} 为思考过程")
}

pub fn ending(status: GenerationStatus, stop_reason: Option<&str>) -> String {
    let how = match status {
        GenerationStatus::Running => localized_word("still running", "仍在进行"),
        GenerationStatus::Complete => localized_word("complete", "已完成"),
        GenerationStatus::Cancelled => localized_word("stopped", "已停止"),
        GenerationStatus::Error => localized_word("failed", "失败"),
    };
    match stop_reason {
        Some(reason) => message!("{how} ({reason})", "{how}（{reason}）"),
        None => how.to_owned(),
    }
}

/// Formats milliseconds as seconds, such as "0.8 s".
pub fn seconds(milliseconds: i64) -> String {
    let (whole, tenths) = (milliseconds / 1_000, milliseconds % 1_000 / 100);
    message!("{whole}.{tenths} s", "{whole}.{tenths} 秒")
}

pub fn bytes(count: u64) -> String {
    let (answer, size) = (raw_response(), count.div_ceil(1_000));
    message!("{answer} ({size} KB)", "{answer}（{size} KB）")
}

/// Returns the notice that only the beginning of the response is shown.
pub fn raw_response_cut(shown: usize, all: usize) -> String {
    let (shown, all) = (shown.div_ceil(1_000), all.div_ceil(1_000));
    message!("The first {shown} KB of {all} KB.", "前 {shown} KB，共 {all} KB。")
}

/// Returns the notice of an unfinished reply, next to the link back.
pub fn reply_outcome(status: TurnStatus) -> Option<&'static str> {
    (!status.is_terminal()).then(|| {
        localized_word(
            "The reply is not over; this page shows what was sent up to now.",
            "回复尚未结束，此页显示目前已发送的内容。",
        )
    })
}

/// Returns the reason why there is no request.
pub fn no_request_reason(status: TurnStatus, has_failed: bool) -> &'static str {
    match status {
        _ if !status.is_terminal() => not_yet(),
        _ if has_failed => failed_before(),
        _ => no_model_asked(),
    }
}
