//! The messages that rendered text adds, in both languages.

use crate::ui::locale::{define_messages, message};

define_messages! {
    copy: "Copy", "复制";
    copy_code: "Copy code", "复制代码";
    preview: "Preview", "预览";
    copy_table: "Copy table", "复制表格";
    copy_table_as_csv: "Copy table as CSV", "将表格复制为 CSV";
    csv: "CSV", "CSV";
    code: "Code", "代码";
    table: "Table", "表格";
    formula: "Formula", "公式";
    image: "Image", "图片";
    done: "done", "已完成";
    not_done: "not done", "未完成";
    details: "Details", "详情";
    note: "Note", "说明";
    tip: "Tip", "提示";
    important: "Important", "重要";
    warning: "Warning", "警告";
    caution: "Caution", "小心";
    too_deep: "Nested too deeply. Shown as plain text.", "嵌套过深，以纯文本显示。";
    too_large: "Too much formatting. Shown as plain text from here.", "格式过多，从这里起以纯文本显示。";
}

/// The accessible name of a mark that leads to a source.
pub fn source_name(number: usize) -> String {
    message!("Source {number}", "来源 {number}")
}

/// The accessible name of a reference to a footnote.
pub fn footnote(name: &str) -> String {
    message!("Footnote {name}", "脚注 {name}")
}

/// The accessible name of the link from a footnote back to its place in the text.
pub fn footnote_back(name: &str) -> String {
    message!("Footnote {name}: back to the text", "脚注 {name}：返回正文")
}

/// The label of the link on an image's card.
pub fn open_image(host: &str) -> String {
    message!("Open image at {host}", "打开 {host} 上的图片")
}

/// The accessible name of a code block.
pub fn code_in(language: &str) -> String {
    message!("Code, {language}", "代码，{language}")
}
