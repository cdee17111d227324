//! Messages about attachments: files, documents and images, in both languages.

use super::transcript::size;
use super::trash::messages;
use crate::browser::case_mapping::to_uppercase;
use crate::domain::attachment::{AttachmentCard, ReferenceStatus};
use crate::domain::limits;
use crate::ui::locale::{define_messages, localized_word, message, plural_message};

define_messages! {
    attach: "Attach files", "添加附件";
    attach_now: "Attach", "添加";
    not_attached: "Not everything could be attached", "部分附件未能添加";
    back_to_message: "Back to your message", "返回你的消息";
    attachments: "Attached", "附件";
    drop_here: "Drop files to attach them to your message", "拖放文件到这里，作为消息的附件";
    drop_on_edit: "Drop files to attach them to the message you edit", "拖放文件到这里，作为正在编辑的消息的附件";
    waiting: "Waiting", "等待中";
    reading: "Reading…", "正在读取…";
    lost: "Connection lost. It goes on by itself.", "连接中断，恢复后会自动继续。";
    send_failed: "This file could not be sent.", "无法发送此文件。";
    try_again: "Try again", "重试";
    remove_attachment: "Remove", "移除";
    file_failed: "A file could not be attached. Try it again or remove it, then send.", "有文件未能添加，请重试或将其移除，然后再发送。";
    files_not_sent: "Not sent. Your files are still being uploaded.", "未发送，你的文件仍在上传。";
    sends_after_upload: "Your message goes out when the files are there.", "文件上传完后会发送你的消息。";
    attach_as_document: "Attach as document", "作为文档添加";
    keep_as_text: "Keep as text", "保留为文字";
    pasted: "Pasted text", "粘贴的文字";
    looks_like_key: "This looks like an API key. Whoever answers will read it.", "这看起来像 API 密钥，回答的一方会读到它。";
    searching_documents: "Looking for documents…", "正在查找文档…";
    nothing_to_mention: "No document has such a title, and no message here such a word.", "没有标题匹配的文档，此处也没有包含该词的消息。";
    to_mention: "Documents and messages", "文档和消息";
    turn_is_quoted: "Enter quotes the message.", "按 Enter 引用该消息。";
    line_range_hint: "Write :12-30 behind a title to quote these lines.", "在标题后输入 :12-30 可引用这些行。";
    document_search_failed: "The documents could not be looked up.", "无法查找文档。";
    not_read: "The document could not be read.", "无法读取该文档。";
    not_there: "not there any more", "已不存在";
    whole_picture: "The picture in full", "完整图片";
}

/// The text of a chip behind the title of a document or of lines of one.
pub fn chip_label(card: &AttachmentCard, standing: Option<ReferenceStatus>) -> String {
    let lines = card.lines.map(|of| format!(" · {}", lines(of))).unwrap_or_default();
    let tokens = if card.tokens == 0 { String::new() } else { format!(" · {}", tokens(card.tokens)) };
    let standing = match standing {
        Some(ReferenceStatus::Older) => localized_word(" · older version", " · 旧版本"),
        Some(ReferenceStatus::Deleted) => localized_word(" · deleted", " · 已删除"),
        None => "",
    };
    format!("{lines}{tokens}{standing}")
}

fn tokens(count: u64) -> String {
    let (thousands, tenth) = (count / 1_000, count % 1_000 / 100);
    match count {
        0..1_000 => plural_message!(count; "1 token", "{count} tokens"; "{count} token"),
        1_000..100_000 => message!("{thousands}.{tenth}k tokens", "{thousands}.{tenth}k token"),
        _ => message!("{thousands}k tokens", "{thousands}k token"),
    }
}

/// Turns a message of the server, which begins in lower case, into a sentence.
pub fn as_sentence(why: &str) -> String {
    let (first, rest) = why.split_at(why.chars().next().map_or(0, char::len_utf8));
    let stop = match why.chars().next_back() {
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
    message!("Try again: {name}", "重试：{name}")
}

pub fn attached(name: &str) -> String {
    message!("{name} attached.", "已添加 {name}。")
}

pub fn removed(name: &str) -> String {
    message!("{name} removed.", "已移除 {name}。")
}

/// The announcement when Backspace selects the last attachment.
pub fn selected(name: &str) -> String {
    message!("{name} selected. Backspace removes it.", "已选中 {name}，按 Backspace 移除。")
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
    message!("It has {has}; a file has at most {most}.", "此文件大小为 {has}，每个文件最多 {most}。")
}

pub fn files_too_large() -> String {
    let most = size(limits::TURN_UPLOAD_BYTES as u64);
    message!("The files of one message come to at most {most}.", "一条消息的文件合计最多 {most}。")
}

pub fn too_many() -> String {
    let most = limits::REFERENCES_PER_TURN;
    message!("A message has at most {most} attachments.", "一条消息最多有 {most} 个附件。")
}

/// The notice on a long paste.
pub fn long_paste(chars: usize) -> String {
    message!("You pasted {chars} characters.", "你粘贴了 {chars} 个字符。")
}

/// The announcement of a long paste, with the offer for readers who do not see the buttons.
pub fn paste_offer(chars: usize) -> String {
    let pasted = long_paste(chars);
    message!("{pasted} Attach as document?", "{pasted}要作为文档添加吗？")
}

/// A line range of a document.
pub fn lines((first, last): (u64, u64)) -> String {
    if first == last {
        message!("line {first}", "第 {first} 行")
    } else {
        message!("lines {first}-{last}", "第 {first}-{last} 行")
    }
}

/// The problem with a line range beyond the document's end.
pub fn no_such_lines(count: u64) -> String {
    plural_message!(
        count;
        "There is nothing on these lines: the document has {count} line.",
        "There is nothing on these lines: the document has {count} lines.";
        "这些行没有内容，该文档共 {count} 行。"
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
            "{messages}. Up and down to choose, Enter to quote.",
            "{messages}，按上下键选择，按 Enter 引用。"
        );
    }
    let documents = plural_message!(documents; "1 document", "{documents} documents"; "{documents} 个文档");
    message!(
        "{documents}, {messages}. Up and down to choose, Enter to attach or quote.",
        "{documents}，{messages}，按上下键选择，按 Enter 添加或引用。"
    )
}

fn offered(count: usize) -> String {
    match count {
        0 => nothing_to_mention().to_owned(),
        1 => localized_word("1 document. Enter attaches it.", "1 个文档，按 Enter 添加。").to_owned(),
        count => message!(
            "{count} documents. Up and down to choose, Enter to attach.",
            "{count} 个文档，按上下键选择，按 Enter 添加。"
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
        assert_eq!(chip_label(&card(Some((10, 42)), 1_234), None), " · lines 10-42 · 1.2k tokens");
        assert_eq!(
            chip_label(&card(Some((7, 7)), 1), Some(ReferenceStatus::Older)),
            " · line 7 · 1 token · older version"
        );
        assert_eq!(chip_label(&card(None, 0), Some(ReferenceStatus::Deleted)), " · deleted");
        assert_eq!(chip_label(&card(None, 123_456), None), " · 123k tokens");
    }
}
