//! Localized sentences of what the server stores as a code with arguments: failures (`ui::locale::failure_sentences`),
//! notices, pauses, dropped parameters, and notes of approval requests. The English templates are those of the codes
//! (`domain`), because the API has them, too; the Chinese ones are here, by code. Rows of older versions and of newer
//! ones whose sentence is unknown are shown as they are stored.

use crate::domain::blocks::notice::{Notice, stop_reason_of, stored_notice_text};
use crate::domain::tools::approval::{ApprovalNote, ApprovalRequest};
use crate::domain::turns::user_input_wait::{ReplyPauseReason, open_pause_text};
use crate::domain::{Block, DroppedParam};
use crate::ui::locale::coded_messages::{drop_reason_sentence, localized_template};
pub use crate::ui::locale::failure_sentences::failure_sentence;
use crate::ui::locale::{Locale, locale, localized_word, message};

/// The sentence of a notice block. `None` for other blocks.
pub fn notice_block_sentence(block: &Block) -> Option<String> {
    if let Some(reason) = stop_reason_of(block) {
        return Some(message!("The provider stopped the reply: {reason}.", "服务商中止了回复：{reason}。"));
    }
    Notice::from_block(block).map(notice_sentence).or_else(|| stored_notice_text(block)).map(str::to_owned)
}

/// The sentence of a notice.
pub fn notice_sentence(notice: Notice) -> &'static str {
    let chinese = match notice {
        Notice::ReasoningRefused => "服务商拒绝了此前的思考过程，已将其省略。",
        Notice::StepsDescribed => "服务商拒绝了此前的思考过程和工具调用，已省略思考过程并概述工具调用。",
        Notice::ReasoningAdded => "已按服务商要求的格式重新发送请求。",
        Notice::ReasoningDropped => "由于之前的对话有变动，服务商省略了此前的思考过程。",
        Notice::ResentWhole => "服务商已不再保存此对话，因此重新发送了全部内容。",
        Notice::ImagesDescribed => "服务商拒绝了图片，已改用文字描述。",
        Notice::ImagesUnsupported => "此模型不支持图片，已改用文字描述。",
        Notice::ToolsSearched => "所选服务器的工具数量超过模型上限，模型会按需搜索工具。",
        Notice::ToolsLeftOut => "部分所选工具无法使用，原因见此对话的工具页面。",
        Notice::LengthReached => "回复已达到模型的长度上限。",
        Notice::ContextFilled => "对话已达到模型的上下文上限，回复到此为止。",
        Notice::Filtered => "服务商的内容过滤器在此处终止了回复。",
        Notice::Declined => "模型拒绝继续回复。",
        Notice::StoppedOtherwise => "服务商中止了回复。",
        Notice::NoAnswer => "模型结束时没有给出回答。",
    };
    localized_word(notice.sentence(), chinese)
}

/// Why a reply has paused. `None` unless the block is an open pause.
pub fn pause_sentence(block: &Block) -> Option<String> {
    let text = open_pause_text(block)?;
    let known = ReplyPauseReason::of_open_pause(block).and_then(|(reason, args)| {
        let chinese = match reason {
            ReplyPauseReason::Rounds => "已进行 {rounds} 轮工具调用，现已暂停。",
            ReplyPauseReason::Repeats => "因模型反复进行相同的工具调用而暂停。",
        };
        localized_template(reason.template(), chinese, &args)
    });
    Some(known.unwrap_or_else(|| text.to_owned()))
}

/// Why a call asks for approval again. `None` if it asks for the first time.
pub fn approval_note(ask: &ApprovalRequest) -> Option<String> {
    let known = ask.known_note().and_then(|(note, args)| {
        let chinese = match note {
            ApprovalNote::DescriptionChanged => "它的说明在此对话启用它之后已更改。",
            ApprovalNote::ChangedSinceAllowed => "它的说明在你允许之后已更改。",
            ApprovalNote::ChangedSinceTrusted => "它的说明与配置文件所信任的不一致。",
            ApprovalNote::UntrustedText => "此对话含有不是你写的文字，可能是它在要求这样做。",
            ApprovalNote::UnnamedHost => "此对话含有不是你写的文字，而你的消息都没有提到 {host}。",
            ApprovalNote::SignInNeeded => "{server} 需要你登录。登录后会继续此调用。",
            ApprovalNote::SignInAgain => "{server} 要求更多权限。重新登录后会继续此调用。",
        };
        localized_template(note.template(), chinese, &args)
    });
    known.or_else(|| ask.note.clone())
}

/// The dropped parameters with their reasons, as sentences. `None` where everything was sent.
pub fn not_sent_sentences(all: &[DroppedParam]) -> Option<String> {
    let between = if locale() == Locale::Chinese { "" } else { " " };
    let sentences: Vec<String> = all.iter().map(not_sent_sentence).collect();
    (!all.is_empty()).then(|| sentences.join(between))
}

fn not_sent_sentence(dropped: &DroppedParam) -> String {
    let known = dropped.known_reason().and_then(|(reason, args)| drop_reason_sentence(reason, args));
    let (param, reason) = (&dropped.param, known.as_ref().unwrap_or(&dropped.reason));
    match param.as_str() {
        "thinking" => message!("{param} was adjusted: {reason}.", "已调整 {param}：{reason}。"),
        _ => message!("{param} was not sent: {reason}.", "未发送 {param}：{reason}。"),
    }
}

#[cfg(test)]
mod tests;
