//! Messages about keyboard shortcuts, in both languages.

use crate::ui::keymap::{KeyCommand, key_hint};
use crate::ui::locale::{define_messages, localized_word, message};

define_messages! {
    change: "Change them", "更改快捷键";
    no_code: "There is no code to copy.", "没有可复制的代码。";
}

/// The description of a command, for the lists of shortcuts.
pub fn command_description(command: KeyCommand) -> &'static str {
    match command {
        KeyCommand::Search => {
            localized_word("Search chats, messages, documents and commands", "搜索对话、消息、文档和命令")
        }
        KeyCommand::NewChat => localized_word("New chat", "新建对话"),
        KeyCommand::Sidebar => localized_word("Show or hide the list of chats", "显示或隐藏对话列表"),
        KeyCommand::Panel => localized_word("Show or hide the tree of the chat", "显示或隐藏对话树"),
        KeyCommand::Find => localized_word(
            "Find in this chat; Enter goes on, with Shift back",
            "在此对话中查找；按 Enter 到下一个，加 Shift 到上一个",
        ),
        KeyCommand::Shortcuts => localized_word("This list", "显示此列表"),
        KeyCommand::MessageBox => localized_word("To the message box", "跳到消息输入框"),
        KeyCommand::NextPart => localized_word(
            "Next part of the page, also what waits for your answer",
            "页面的下一部分，包括等待你答复的内容",
        ),
        KeyCommand::PartBefore => localized_word("The part of the page before", "页面的上一部分"),
        KeyCommand::StopAndSend => localized_word("Stop the reply and send", "停止回复并发送"),
        KeyCommand::Stop => localized_word("Stop the reply", "停止回复"),
        KeyCommand::CopyCode => localized_word("Copy the last code block", "复制最后一个代码块"),
        KeyCommand::TurnBefore => localized_word("On a message: to the one before it", "在消息上：跳到上一条"),
        KeyCommand::NextTurn => localized_word("On a message: to the next one", "在消息上：跳到下一条"),
        KeyCommand::VersionBefore => {
            localized_word("On a message with versions: the version before", "在有多个版本的消息上：上一版")
        }
        KeyCommand::NextVersion => {
            localized_word("On a message with versions: the next version", "在有多个版本的消息上：下一版")
        }
        KeyCommand::Edit => localized_word("On a message: edit it", "在消息上：编辑"),
        KeyCommand::Retry => localized_word("On a reply: try again", "在回复上：重试"),
        KeyCommand::Branch => localized_word("On a reply: branch from it", "在回复上：从这里建立分支"),
        KeyCommand::Copy => localized_word("On a message: copy it", "在消息上：复制"),
        KeyCommand::Reasoning => {
            localized_word("On a reply: open or close its reasoning", "在回复上：展开或收起思考过程")
        }
        KeyCommand::Quote => localized_word(
            "Quote what is selected in a reply or a document, or the focused message",
            "引用在回复或文档中选中的内容，或当前消息",
        ),
    }
}

/// The fixed keys and their descriptions.
pub fn fixed_keys() -> Vec<(&'static [&'static str], &'static str)> {
    FIXED.iter().map(|&(keys, english, chinese)| (keys, localized_word(english, chinese))).collect()
}

const FIXED: &[(&[&str], &str, &str)] = &[
    (&["Enter"], "Send, or a new line where the settings say so", "发送，或按设置换行"),
    (&["Ctrl", "Enter"], "Send", "发送"),
    (&["Shift", "Enter"], "New line", "换行"),
    (&["Esc", "Esc"], "Stop the reply", "停止回复"),
    (&["↑"], "In an empty message box: edit your last message", "输入框为空时：编辑你的上一条消息"),
    (&["?"], "On a message: this list", "在消息上：显示此列表"),
    (&["Ctrl", "Z"], "Undo a deletion while its note is shown", "在删除提示显示期间：撤销删除"),
];

/// The reason why nothing is sent while a reply runs.
pub fn stop_first() -> String {
    let keys = key_hint(KeyCommand::StopAndSend);
    if keys.is_empty() {
        return localized_word("A reply is being written. Stop it first.", "回复正在生成。请先停止它。").to_owned();
    }
    message!(
        "A reply is being written. Stop it first, or press {keys} to stop it and send.",
        "回复正在生成。请先停止它，或按 {keys} 停止并发送。"
    )
}
