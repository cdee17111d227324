//! Messages about keyboard shortcuts, in both languages.

use crate::ui::keymap::KeyCommand;
use crate::ui::locale::{define_messages, localized_word};

define_messages! {
    change: "Change shortcuts", "更改快捷键";
    no_code: "No code to copy.", "没有可复制的代码。";
}

/// The description of a command, for the lists of shortcuts.
pub fn command_description(command: KeyCommand) -> &'static str {
    match command {
        KeyCommand::Search => {
            localized_word("Search chats, messages, documents and commands", "搜索对话、消息、文档和命令")
        }
        KeyCommand::NewChat => localized_word("New chat", "新建对话"),
        KeyCommand::Sidebar => localized_word("Show or hide the chat list", "显示或隐藏对话列表"),
        KeyCommand::Panel => localized_word("Show or hide the chat tree", "显示或隐藏对话树"),
        KeyCommand::Find => localized_word(
            "Find in chat; Enter for next, Shift+Enter for previous",
            "在对话中查找；按 Enter 到下一个，按 Shift+Enter 到上一个",
        ),
        KeyCommand::Shortcuts => localized_word("Show keyboard shortcuts", "显示快捷键"),
        KeyCommand::MessageBox => localized_word("Go to the message box", "跳到消息输入框"),
        KeyCommand::NextPart => localized_word(
            "Go to the next part of the page, including requests that need your input",
            "跳到页面的下一部分，包括等待你处理的请求",
        ),
        KeyCommand::PartBefore => localized_word("Go to the previous part of the page", "跳到页面的上一部分"),
        KeyCommand::StopAndSend => localized_word("Stop the reply and send", "停止回复并发送"),
        KeyCommand::Stop => localized_word("Stop the reply", "停止回复"),
        KeyCommand::CopyCode => localized_word("Copy the last code block", "复制最后一个代码块"),
        KeyCommand::TurnBefore => localized_word("On a message: go to the previous message", "在消息上：跳到上一条"),
        KeyCommand::NextTurn => localized_word("On a message: go to the next message", "在消息上：跳到下一条"),
        KeyCommand::VersionBefore => {
            localized_word("On a message with versions: show the previous version", "在有多个版本的消息上：显示上一版")
        }
        KeyCommand::NextVersion => {
            localized_word("On a message with versions: show the next version", "在有多个版本的消息上：显示下一版")
        }
        KeyCommand::Edit => localized_word("On a message: edit it", "在消息上：编辑"),
        KeyCommand::Retry => localized_word("On a reply: retry", "在回复上：重试"),
        KeyCommand::Branch => localized_word("On a reply: branch from it", "在回复上：从这里新建分支"),
        KeyCommand::Copy => localized_word("On a message: copy it", "在消息上：复制"),
        KeyCommand::Reasoning => {
            localized_word("On a reply: show or hide its reasoning", "在回复上：展开或收起思考过程")
        }
        KeyCommand::Quote => localized_word(
            "Quote the selected text of a reply or document, or the focused message",
            "引用在回复或文档中选中的内容，或当前消息",
        ),
    }
}

/// The fixed keys and their descriptions.
pub fn fixed_keys() -> Vec<(&'static [&'static str], &'static str)> {
    FIXED.iter().map(|&(keys, english, chinese)| (keys, localized_word(english, chinese))).collect()
}

const FIXED: &[(&[&str], &str, &str)] = &[
    (&["Enter"], "Send, or start a new line (depends on your settings)", "发送或换行（取决于你的设置）"),
    (&["Ctrl", "Enter"], "Send; during a reply, queue the message", "发送；正在生成回复时，将消息加入队列"),
    (&["Shift", "Enter"], "New line", "换行"),
    (&["Esc", "Esc"], "Stop the reply", "停止回复"),
    (&["↑"], "In an empty message box: edit your last message", "输入框为空时：编辑你的上一条消息"),
    (&["?"], "On a message: show keyboard shortcuts", "在消息上：显示快捷键"),
    (&["Ctrl", "Z"], "Undo a deletion while its notification is shown", "在删除提示显示期间：撤销删除"),
];
