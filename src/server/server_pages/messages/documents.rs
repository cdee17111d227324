//! Messages of the pages of documents, in both languages.

use crate::domain::byte_size::ByteSize;
use crate::domain::limits;
use crate::ui::locale::{define_messages, localized_word, message, plural_message};

pub use crate::ui::messages::transcript::size;

define_messages! {
    documents: "Documents", "文档";
    lead: "Texts that messages can name, all of them or some lines. Every change keeps the version before, so a message goes on saying what it said.", "可在消息中引用的文本，可引用全文或其中几行。每次修改都保留先前的版本，因此消息引用的内容不会改变。";
    nothing: "Nothing is here yet. Write a document or upload files: text, Markdown, code, HTML, PDF, Word, Excel, CSV.", "这里还没有内容。写一篇文档，或上传文件：文本、Markdown、代码、HTML、PDF、Word、Excel、CSV。";
    list: "All documents", "全部文档";
    new: "New document", "新建文档";
    new_title: "New document", "新建文档";
    upload: "Upload files", "上传文件";
    upload_version: "Upload a new version", "上传新版本";
    files: "Files", "文件";
    file: "File", "文件";
    encoding: "Encoding of text files", "文本文件的编码";
    encoding_auto: "Tell by the file", "自动识别";
    uploaded: "Uploaded", "已上传";
    upload_results: "What came of the files", "文件处理结果";
    no_file: "Choose a file first.", "请先选择文件。";
    is_image: "an image is kept for a day; attach it to a message", "图片只保留一天，请附加到消息";
    too_many_files: "The form has too many files; the rest was not read.", "表单中的文件过多，其余文件未读取。";
    title: "Title", "标题";
    text: "Text", "正文";
    text_hint: "Markdown.", "使用 Markdown。";
    preview: "Preview", "预览";
    save: "Save", "保存";
    saved: "Saved.", "已保存。";
    created: "The document is made.", "文档已创建。";
    restored: "It is back.", "已恢复。";
    version_restored: "That version is the newest again.", "该版本已重新成为最新版本。";
    unchanged_or_saved: "Saved. The same words make no new version.", "已保存。内容未变时不产生新版本。";
    edit: "Edit", "编辑";
    download: "Download the original", "下载原文件";
    delete: "Delete", "删除";
    delete_sure: "Delete", "删除";
    keep: "Keep it", "保留";
    version_label: "Version", "版本";
    versions: "Versions", "版本";
    newest: "newest", "最新";
    show: "Show", "显示";
    compare: "Compare versions", "比较版本";
    older_one: "Older", "较旧";
    newer_one: "Newer", "较新";
    make_newest: "Make this the newest version", "设为最新版本";
    old_version: "This is an older version.", "这是较旧的版本。";
    quote: "Quote lines in a chat", "在对话中引用行";
    quote_hint: "The lines are attached to the chat's next message, as this version has them.", "这些行会按此版本的内容附加到对话的下一条消息。";
    first_line: "From line", "起始行";
    last_line: "To line", "结束行";
    chat: "Chat", "对话";
    new_chat: "A new chat", "新对话";
    do_quote: "Quote in chat", "引用到对话";
    selected: "Selected text", "选中的文字";
    copy_link: "Copy link", "复制链接";
    no_lines: "There is nothing on these lines.", "这些行没有内容。";
    lines_hint: "Both are numbers of lines.", "两处都应填写行号。";
    used: "Used in", "使用它的对话";
    notes: "What reading the file says", "读取文件时的说明";
    content: "Text with line numbers", "带行号的正文";
    empty: "The document is empty.", "此文档为空。";
    earlier_lines: "Earlier lines", "前面的行";
    later_lines: "Later lines", "后面的行";
    back: "Back to the document", "返回文档";
    back_to_list: "All documents", "全部文档";
    older: "Older", "更早";
    first_page: "Newest", "最新";
    too_long: "This document is too long to be edited here. Upload a new version of the file.", "此文档过长，无法在此编辑。请上传文件的新版本。";
    changed: "It was changed meanwhile. Your words are below; saving again replaces what is there now.", "文档在此期间已被修改。你的内容在下方，再次保存将替换现有内容。";
    same: "The two versions are the same.", "两个版本相同。";
    in_trash: "Documents", "文档";
    purge: "Delete for ever…", "永久删除…";
    purge_sure: "Delete for ever", "永久删除";
    restore: "Restore", "恢复";
    purge_description: "All versions go for ever. Messages that name it stay and say that it was deleted. This cannot be undone.", "所有版本将被永久删除。引用它的消息会保留，并注明文档已删除。此操作无法撤销。";
}

pub fn lines(count: u64) -> String {
    plural_message!(count; "1 line", "{count} lines"; "{count} 行")
}

pub fn used_in_chats(chats: u64) -> String {
    match chats {
        0 => localized_word("not used yet", "尚未使用").to_owned(),
        count => plural_message!(count; "used in 1 chat", "used in {count} chats"; "用于 {count} 个对话"),
    }
}

pub fn edit_title(title: &str) -> String {
    message!("Edit “{title}”", "编辑“{title}”")
}

pub fn delete_title(title: &str) -> String {
    message!("Delete “{title}”?", "删除“{title}”？")
}

pub fn delete_description() -> String {
    let days = limits::TRASH_KEPT.num_days();
    message!(
        "It goes to Trash, where it is kept for {days} days. Messages that name it say so meanwhile.",
        "文档将移到回收站，保留 {days} 天。在此期间，引用它的消息会注明这一点。"
    )
}

pub fn files_hint() -> String {
    let (each, together) =
        (ByteSize::from_usize(limits::UPLOAD_BYTES), ByteSize::from_usize(limits::TURN_UPLOAD_BYTES));
    message!("At most {each} each, {together} together.", "每个文件不超过 {each}，合计不超过 {together}。")
}

pub fn file_failed(name: &str, why: &str) -> String {
    message!("{name}: {why}", "{name}：{why}")
}

/// Names a version by its number, counted from the oldest.
pub fn version(number: usize) -> String {
    message!("Version {number}", "第 {number} 版")
}
