//! Messages of the menu behind `/`, in both languages.

use crate::ui::locale::{define_messages, localized_word, plural_message};

define_messages! {
    commands: "Commands", "命令";
    prompt_failed: "Could not read the prompt.", "无法读取该提示词。";
    escape_hint: "Press Esc to keep it as text.", "按 Esc 保留为文字。";
}

/// Command names: in English, which is matched in every language, and in the page's language.
macro_rules! names {
    ($($name:ident: $english:literal, $chinese:literal;)*) => {$(
        pub fn $name() -> (&'static str, &'static str) {
            ($english, localized_word($english, $chinese))
        }
    )*};
}

names! {
    model: "Choose a model", "选择模型";
    branch: "Switch model in a new branch", "在新分支中换用其他模型";
    attach: "Attach files", "添加附件";
    insert: "Insert from a server", "从服务器插入";
    find: "Find in chat", "在对话中查找";
    tree: "Chat tree", "对话树";
    settings: "Chat settings", "对话设置";
    export: "Export chat", "导出对话";
    new_chat: "New chat", "新建对话";
    clear: "Clear message box", "清空输入框";
}

/// The number of matching commands.
pub fn offered(count: usize) -> String {
    plural_message!(count; "1 command", "{count} commands"; "{count} 个命令")
}
