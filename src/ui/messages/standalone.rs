//! Messages of the standalone page of a chat, and of an imported chat's origin, in both languages.

use crate::domain::ImportDifferenceKind;
use crate::ui::locale::{define_messages, localized_word, message, plural_message};
use crate::ui::messages::amounts::number;

define_messages! {
    untitled: "Untitled", "未命名";
    system_prompt: "System prompt", "系统提示词";
    source: "Source", "来源";
    everything_imported: "Everything was imported.", "全部内容均已导入。";
    corrected: "corrected", "已修正";
    lost: "not preserved", "未保留";
    left_out: "not imported", "未导入";
    damaged: "Unreadable content", "无法读取的内容";
    cut: "A reply that was still being generated is not included.", "仍在生成的回复不包含在内。";
    without_reasoning: "Reasoning is not included.", "不包含思考过程。";
    without_tools: "Tool calls are not included.", "不包含工具调用。";
    picture: "Image not included in this export", "此导出中未包含的图片";
}

/// The day on which the chat began.
pub fn began(day: &str) -> String {
    message!("Started on {day}", "开始于 {day}")
}

/// The number of messages and replies on the page.
pub fn turns(count: usize) -> String {
    let many = number(count as u64);
    plural_message!(count; "{many} message", "{many} messages"; "{many} 条消息")
}

/// The footer: the exporting program and the day.
pub fn exported(day: &str) -> String {
    message!(
        "Exported from Turnleaf on {day}. Only the displayed branch is included.",
        "于 {day} 从 Turnleaf 导出，仅包含当时显示的分支。"
    )
}

/// The version number of a turn.
pub fn version(number: usize, count: usize) -> String {
    message!("Version {number} of {count}", "第 {number} 版，共 {count} 版")
}

/// The number of versions that are not on the page.
pub fn other_versions(count: usize) -> String {
    plural_message!(
        count;
        "{count} other version is not included.",
        "{count} other versions are not included.";
        "另有 {count} 个版本不包含在内。"
    )
}

/// The number of pictures that were left out: too large for the file, or in a format that not every browser shows.
pub fn pictures_left_out(count: usize) -> String {
    plural_message!(count; "{count} image is not included.", "{count} images are not included."; "另有 {count} 张图片不包含在内。")
}

/// The number of damaged parts of the chat in the database.
pub fn damages(count: usize) -> String {
    plural_message!(
        count;
        "{count} part of this chat could not be read during export.",
        "{count} parts of this chat could not be read during export.";
        "导出时此对话有 {count} 处内容无法读取。"
    )
}

/// The placeholder of a file that a tool created.
pub fn file_elsewhere(mime: &str) -> String {
    message!("File not included in this export ({mime})", "此导出中未包含的文件（{mime}）")
}

/// The origin of an imported chat.
pub fn imported_from(format: &str, file: &str, day: &str) -> String {
    message!("Imported from {format} on {day} ({file}).", "于 {day} 从 {format} 导入（{file}）。")
}

/// The heading of the differences from the source.
pub fn differences(count: usize) -> String {
    plural_message!(
        count;
        "{count} difference from the source",
        "{count} differences from the source";
        "与来源有 {count} 处不同"
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
        "git" => "Git",
        "chatgpt" => "ChatGPT",
        "claude" => "Claude",
        "open-webui" => "Open WebUI",
        "librechat" => "LibreChat",
        "llama-cpp" => "llama.cpp",
        "big-agi" => "big-AGI",
        "claude-code" => "Claude Code",
        "codex" => "Codex",
        "gemini-cli" => "Gemini CLI",
        "deepseek" => "DeepSeek",
        "ai-studio" => "Google AI Studio",
        "gemini-takeout" => "Gemini (Google Takeout)",
        "grok" => "Grok",
        "messages" => localized_word("OpenAI-style messages", "OpenAI 格式的消息"),
        "lobehub" => "LobeHub",
        "cherry-studio" => "Cherry Studio",
        "sillytavern" => "SillyTavern",
        "jan" => "Jan",
        "anythingllm" => "AnythingLLM",
        "shared-link" => localized_word("a shared link", "分享的链接"),
        _ => localized_word("unknown", "未知"),
    }
}
