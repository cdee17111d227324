//! Messages of the standalone page of a chat, and of an imported chat's origin, in both languages.

use crate::domain::ImportDifferenceKind;
use crate::ui::locale::{define_messages, localized_word, message, plural_message};

define_messages! {
    untitled: "Untitled", "未命名";
    system_prompt: "System prompt", "系统提示词";
    source: "Where it came from", "来源";
    everything_imported: "Everything of it came along.", "其全部内容均已导入。";
    corrected: "put right", "已修正";
    lost: "not kept", "未保留";
    left_out: "left out", "未导入";
    damaged: "What could not be read", "无法读取的内容";
    cut: "A reply that was still being written is not in it.", "尚未写完的回复不包含在内。";
    without_reasoning: "Reasoning was left out.", "思考过程已省略。";
    without_tools: "Tools were left out.", "工具调用已省略。";
    picture: "A picture that is not in this file", "此文件中未包含的图片";
}

/// The day on which the chat began.
pub fn began(day: &str) -> String {
    message!("Begun on {day}", "开始于 {day}")
}

/// The number of messages and replies on the page.
pub fn turns(count: usize) -> String {
    plural_message!(count; "{count} message or reply", "{count} messages and replies"; "{count} 条消息和回复")
}

/// The footer: the exporting program and the day.
pub fn exported(day: &str) -> String {
    message!("Exported from Turnleaf on {day}: the path that was shown.", "于 {day} 从 Turnleaf 导出：当时显示的路径。")
}

/// The version number of a turn.
pub fn version(number: usize, count: usize) -> String {
    message!("Version {number} of {count}", "第 {number} 个版本，共 {count} 个")
}

/// The number of versions that are not on the page.
pub fn other_versions(count: usize) -> String {
    plural_message!(
        count;
        "{count} other version of what is here is not in it.",
        "{count} other versions of what is here are not in it.";
        "另有 {count} 个版本不包含在内。"
    )
}

/// The number of pictures that were left out: too large for the file, or in a format that not every browser shows.
pub fn pictures_left_out(count: usize) -> String {
    plural_message!(count; "{count} picture was left out.", "{count} pictures were left out."; "省略了 {count} 张图片。")
}

/// The number of damaged parts of the chat in the database.
pub fn damages(count: usize) -> String {
    plural_message!(
        count;
        "{count} part of this chat could not be read when it was exported.",
        "{count} parts of this chat could not be read when it was exported.";
        "导出时此对话有 {count} 处内容无法读取。"
    )
}

/// The placeholder of a file that a tool created.
pub fn file_elsewhere(mime: &str) -> String {
    message!("A file that is not in this page ({mime})", "此网页中未包含的文件（{mime}）")
}

/// The origin of an imported chat.
pub fn imported_from(format: &str, file: &str, day: &str) -> String {
    message!("Imported from {format} on {day} ({file}).", "于 {day} 从 {format} 导入（{file}）。")
}

/// The heading of the differences from the source.
pub fn differences(count: usize) -> String {
    plural_message!(
        count;
        "{count} thing that the source had and this chat has not, or has otherwise",
        "{count} things that the source had and this chat has not, or has otherwise";
        "来源中有 {count} 处内容未保留或有所不同"
    )
}

/// The severity of a difference from the source.
pub fn difference_kind(kind: ImportDifferenceKind) -> &'static str {
    match kind {
        ImportDifferenceKind::PutRight => corrected(),
        ImportDifferenceKind::Lost => lost(),
        ImportDifferenceKind::LeftOut => left_out(),
    }
}

/// The name of a format as its vendor writes it.
pub fn format_name(name: &str) -> &'static str {
    match name {
        "turnleaf" => "Turnleaf",
        "chatgpt" => "ChatGPT",
        "claude" => "Claude",
        "open-webui" => "Open WebUI",
        "librechat" => "LibreChat",
        "llama-cpp" => "llama.cpp",
        "big-agi" => "big-AGI",
        _ => localized_word("unknown", "未知"),
    }
}
