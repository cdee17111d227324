//! Messages of the pages of documents, in both languages.

use crate::domain::limits;
use crate::ui::locale::{define_messages, localized_word, message, plural_message};
use crate::ui::messages::amounts::number;
pub use crate::ui::messages::amounts::size;

define_messages! {
    documents: "Documents", "文档";
    lead: "Texts you can attach to messages, whole or in part. Every change creates a new version, and existing \
        references keep their version.", "可附加到消息的文本，可引用全文或其中几行。每次修改都会产生新版本，已有的引用保持原来的版本。";
    nothing: "No documents yet. Write one or upload files: text, Markdown, code, HTML, PDF, Word, Excel, CSV.",
        "还没有文档。写一篇，或上传文件：文本、Markdown、代码、HTML、PDF、Word、Excel、CSV。";
    filter: "Title contains", "标题包含";
    do_filter: "Show", "显示";
    new: "New document", "新建文档";
    new_title: "New document", "新建文档";
    upload: "Upload files", "上传文件";
    upload_version: "Upload a new version", "上传新版本";
    files: "Files", "文件";
    file: "File", "文件";
    encoding: "Encoding of text files", "文本文件的编码";
    encoding_auto: "Detect automatically", "自动识别";
    uploaded: "Uploaded", "已上传";
    upload_results: "Upload results", "上传结果";
    as_version: "Add as a new version", "作为新版本添加";
    as_document: "Create another document", "另建文档";
    no_file: "Choose a file first.", "请先选择文件。";
    is_image: "an image cannot be a document; attach it to a message instead", "图片不能作为文档，请改为附加到消息";
    too_many_files: "Too many files. The remaining files were not read.", "表单中的文件过多，其余文件未读取。";
    title: "Title", "标题";
    text: "Text", "正文";
    text_hint: "Supports Markdown.", "支持 Markdown。";
    preview: "Preview", "预览";
    save: "Save", "保存";
    saved: "Saved.", "已保存。";
    created: "Document created.", "文档已创建。";
    restored: "Restored.", "已恢复。";
    version_restored: "That version is now the newest.", "该版本已重新成为最新版本。";
    unchanged_or_saved: "Saved. No new version is created if nothing changed.", "已保存。内容未变时不产生新版本。";
    edit: "Edit", "编辑";
    download: "Download original", "下载原文件";
    delete: "Delete", "删除";
    delete_sure: "Delete", "删除";
    keep: "Cancel", "取消";
    version_label: "Version", "版本";
    versions: "Versions", "版本";
    newest: "newest", "最新";
    show: "Show", "显示";
    compare: "Compare versions", "比较版本";
    older_one: "Older", "较旧";
    newer_one: "Newer", "较新";
    make_newest: "Make this the newest version", "设为最新版本";
    old_version: "This is an older version.", "这是较旧的版本。";
    quote: "Quote lines in a chat", "在对话中引用指定行";
    quote_hint: "Attaches these lines, as they are in this version, to the next message of the chat.",
        "这些行会按此版本的内容附加到对话的下一条消息。";
    first_line: "From line", "起始行";
    last_line: "To line", "结束行";
    chat: "Chat", "对话";
    new_chat: "New chat", "新对话";
    do_quote: "Quote in chat", "引用到对话";
    selected: "Selected text", "选中的文字";
    copy_link: "Copy link", "复制链接";
    no_lines: "These lines are empty.", "这些行没有内容。";
    lines_hint: "Enter line numbers in both fields.", "两处都应填写行号。";
    used: "Used in", "使用它的对话";
    notes: "Notes from reading the file", "读取文件时的说明";
    content: "Text with line numbers", "带行号的正文";
    empty: "The document is empty.", "此文档为空。";
    earlier_lines: "Earlier lines", "前面的行";
    later_lines: "Later lines", "后面的行";
    back: "Back to document", "返回文档";
    back_to_list: "All documents", "全部文档";
    older: "Older", "更早";
    first_page: "Newest", "最新";
    too_long: "This document is too long to edit here. Upload a new version of the file.", "此文档过长，无法在此编辑。请上传文件的新版本。";
    changed: "The document changed while you were editing. Your text is below; saving again makes it the newest \
        version.", "你编辑期间文档已被修改。你的内容在下方，再次保存会使它成为最新版本。";
    same: "The two versions are identical.", "两个版本相同。";
    in_trash: "Documents", "文档";
    purge: "Delete permanently…", "永久删除…";
    purge_sure: "Delete permanently", "永久删除";
    restore: "Restore", "恢复";
    purge_description: "All versions are deleted permanently. Messages that reference the document stay and say that \
        it was deleted. This cannot be undone.", "所有版本将被永久删除。引用它的消息会保留，并注明文档已删除。此操作无法撤销。";
}

pub fn count(documents: usize) -> String {
    plural_message!(documents; "1 document", "{documents} documents"; "{documents} 篇文档")
}

/// The number of documents on this page of a longer list.
pub fn shown(documents: usize) -> String {
    plural_message!(documents; "1 document on this page", "{documents} documents on this page"; "本页 {documents} 篇文档")
}

pub fn no_titles(part: &str) -> String {
    message!("No document titles contain “{part}”.", "没有标题包含“{part}”的文档。")
}

pub fn lines(count: u64) -> String {
    let many = number(count);
    plural_message!(count; "1 line", "{many} lines"; "{many} 行")
}

pub fn used_in_chats(chats: u64) -> String {
    match chats {
        0 => localized_word("not used yet", "尚未使用").to_owned(),
        count => {
            let many = number(count);
            plural_message!(count; "used in 1 chat", "used in {many} chats"; "用于 {many} 个对话")
        }
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
        "The document moves to Trash for {days} days. Messages that reference it show it as deleted.",
        "文档将移到回收站，保留 {days} 天。在此期间，引用它的消息会显示该文档已删除。"
    )
}

pub fn files_hint() -> String {
    let (each, together) = (size(limits::UPLOAD_BYTES as u64), size(limits::TURN_UPLOAD_BYTES as u64));
    message!("Up to {each} per file, {together} in total.", "每个文件不超过 {each}，合计不超过 {together}。")
}

/// The offer for a file whose name is the title of a document.
pub fn same_title(title: &str) -> String {
    message!("There is already a document “{title}”.", "已有文档“{title}”。")
}

pub fn file_failed(name: &str, reason: &str) -> String {
    message!("{name}: {reason}", "{name}：{reason}")
}

/// Names a version by its number, counted from the oldest.
pub fn version(number: usize) -> String {
    message!("Version {number}", "第 {number} 版")
}
