//! Messages about attachments: files, documents and images, in both languages.

use super::amounts::{line_range, number, size, tokens};
use super::trash::messages;
use crate::browser::case_mapping::to_uppercase;
use crate::domain::documents::attachment::{AttachmentCard, ReferenceStatus};
use crate::domain::limits;
use crate::ui::locale::{define_messages, localized_word, message, plural_message};

define_messages! {
    attach: "Attach files", "添加附件";
    attach_now: "Attach", "添加";
    not_attached: "Some files could not be attached", "部分附件未能添加";
    back_to_message: "Back to your message", "返回你的消息";
    attachments: "Attachments", "附件";
    drop_here: "Drop files to attach them to your message", "拖放文件到这里，作为消息的附件";
    drop_on_edit: "Drop files to attach them to the message you're editing", "拖放文件到这里，作为正在编辑的消息的附件";
    waiting: "Waiting", "等待中";
    reading: "Reading…", "正在读取…";
    lost: "Connection lost. The upload resumes automatically.", "连接中断，恢复后会自动继续上传。";
    send_failed: "Could not upload this file.", "无法上传此文件。";
    try_again: "Retry", "重试";
    remove_attachment: "Remove", "移除";
    file_failed: "A file could not be attached. Retry or remove it, then send.", "有文件未能添加，请重试或将其移除，然后再发送。";
    files_not_sent: "Not sent. Your files are still uploading.", "未发送，你的文件仍在上传。";
    sends_after_upload: "Your message will be sent when uploads finish.", "文件上传完后会发送你的消息。";
    pasted: "Pasted text", "粘贴的文字";
    looks_like_key: "This looks like an API key. The model provider will see it.", "这看起来像 API 密钥，模型服务商会看到它。";
    searching_documents: "Searching documents…", "正在搜索文档…";
    nothing_to_mention: "No matching documents or messages.", "没有匹配的文档或消息。";
    to_mention: "Documents and messages", "文档和消息";
    turn_is_quoted: "Press Enter to quote the message.", "按 Enter 引用该消息。";
    line_range_hint: "Add :12-30 after a title to quote those lines.", "在标题后输入 :12-30 可引用这些行。";
    document_search_failed: "Could not search documents.", "无法搜索文档。";
    not_read: "Could not read the document.", "无法读取该文档。";
    resource_not_read: "Could not read the resource.", "无法读取该资源。";
    not_there: "no longer available", "已不存在";
    whole_picture: "Full-size image", "完整图片";
}

/// The text of a chip behind the title of a document or of lines of one.
pub fn chip_label(card: &AttachmentCard, status: Option<ReferenceStatus>) -> String {
    let lines = card.lines.map(|of| format!(" · {}", line_range(of))).unwrap_or_default();
    let tokens = if card.tokens == 0 { String::new() } else { format!(" · {}", tokens(card.tokens)) };
    let status = match status {
        Some(ReferenceStatus::Older) => localized_word(" · older version", " · 旧版本"),
        Some(ReferenceStatus::Deleted) => localized_word(" · deleted", " · 已删除"),
        None => "",
    };
    format!("{lines}{tokens}{status}")
}

/// Turns a message of the server, which begins in lower case, into a sentence.
pub fn as_sentence(reason: &str) -> String {
    let (first, rest) = reason.split_at(reason.chars().next().map_or(0, char::len_utf8));
    let stop = match reason.chars().next_back() {
        Some('.' | '?' | '!' | '。' | '？' | '！') => "",
        // The server's text has already been localized.
        Some(last) if !last.is_ascii() => localized_word(".", "。"),
        _ => ".",
    };
    [&to_uppercase(first), rest, stop].concat()
}

/// The label of the button that reads a file in this encoding.
pub fn read_as(encoding: &str) -> String {
    message!("Read as {encoding}", "按 {encoding} 读取")
}

/// The accessible name of that button.
pub fn read_file_as(name: &str, encoding: &str) -> String {
    message!("Read as {encoding}: {name}", "按 {encoding} 读取：{name}")
}

/// The label of the button that removes an attachment.
pub fn remove(name: &str) -> String {
    message!("Remove {name}", "移除 {name}")
}

/// The label of that button while the file is being uploaded.
pub fn cancel(name: &str) -> String {
    message!("Cancel {name}", "取消 {name}")
}

/// The label of the button that retries an upload.
pub fn retry_upload(name: &str) -> String {
    message!("Retry: {name}", "重试：{name}")
}

pub fn attached(name: &str) -> String {
    message!("{name} attached.", "已添加 {name}。")
}

pub fn removed(name: &str) -> String {
    message!("{name} removed.", "已移除 {name}。")
}

/// The announcement when Backspace selects the last attachment.
pub fn selected(name: &str) -> String {
    message!("{name} selected. Press Backspace to remove it.", "已选中 {name}，按 Backspace 移除。")
}

/// The progress of the uploads that a message waits for.
pub fn uploading(number: usize, total: usize) -> String {
    message!("Uploading {number} of {total}…", "正在上传第 {number} 个，共 {total} 个…")
}

/// The progress of one file.
pub fn sent_of(sent: u64, total: u64) -> String {
    let (sent, total) = (size(sent), size(total));
    message!("{sent} of {total}", "{sent} / {total}")
}

pub fn file_too_large(bytes: u64) -> String {
    let (has, most) = (size(bytes), size(limits::UPLOAD_BYTES as u64));
    message!("This file is {has}. The limit is {most} per file.", "此文件大小为 {has}，每个文件最多 {most}。")
}

pub fn files_too_large() -> String {
    let most = size(limits::TURN_UPLOAD_BYTES as u64);
    message!("The files of one message can total at most {most}.", "一条消息的文件合计最多 {most}。")
}

pub fn too_many() -> String {
    let most = limits::REFERENCES_PER_TURN;
    message!("A message can have at most {most} attachments.", "一条消息最多可添加 {most} 个附件。")
}

/// The notice on a long paste.
pub fn paste_attached(chars: usize) -> String {
    let chars = number(chars as u64);
    message!(
        "The {chars} characters you pasted were attached as a document.",
        "你粘贴的 {chars} 个字符已作为文档添加。"
    )
}

/// The problem with a line range beyond the document's end.
pub fn no_such_lines(count: u64) -> String {
    let many = number(count);
    plural_message!(
        count;
        "These lines do not exist: the document has {many} line.",
        "These lines do not exist: the document has {many} lines.";
        "这些行不存在，该文档共 {many} 行。"
    )
}

/// The number of documents and turns that the menu behind `@` offers.
pub fn offered_with_turns(documents: usize, turns: usize) -> String {
    if turns == 0 {
        return offered(documents);
    }
    let messages = messages(turns as u64);
    if documents == 0 {
        return message!(
            "{messages}. Use the arrow keys to choose, Enter to quote.",
            "{messages}，按上下键选择，按 Enter 引用。"
        );
    }
    let documents = plural_message!(documents; "1 document", "{documents} documents"; "{documents} 篇文档");
    message!(
        "{documents}, {messages}. Use the arrow keys to choose, Enter to attach or quote.",
        "{documents}，{messages}，按上下键选择，按 Enter 添加或引用。"
    )
}

fn offered(count: usize) -> String {
    match count {
        0 => nothing_to_mention().to_owned(),
        1 => localized_word("1 document. Press Enter to attach it.", "1 篇文档，按 Enter 添加。").to_owned(),
        count => message!(
            "{count} documents. Use the arrow keys to choose, Enter to attach.",
            "{count} 篇文档，按上下键选择，按 Enter 添加。"
        ),
    }
}

/// The text of a message in flight, with the names of its attachments.
pub fn sending(text: &str, names: &[&str]) -> String {
    let names = names.join(" · ");
    [text, &names].into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn server_message_becomes_sentence() {
        assert_eq!(as_sentence("the file is empty"), "The file is empty.");
        assert_eq!(as_sentence("The disk is full."), "The disk is full.");
        assert_eq!(as_sentence(""), ".");
    }

    #[test]
    fn chip_says_lines_tokens_and_status() {
        let card = |lines, tokens| AttachmentCard { lines, tokens, ..AttachmentCard::default() };
        assert_eq!(chip_label(&card(Some((10, 42)), 1_234), None), " · lines 10–42 · 1.2k tokens");
        assert_eq!(
            chip_label(&card(Some((7, 7)), 1), Some(ReferenceStatus::Older)),
            " · line 7 · 1 token · older version"
        );
        assert_eq!(chip_label(&card(None, 0), Some(ReferenceStatus::Deleted)), " · deleted");
        assert_eq!(chip_label(&card(None, 123_456), None), " · 123k tokens");
    }
}
