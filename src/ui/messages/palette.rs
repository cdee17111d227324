//! Messages of the palette, in both languages.

use crate::ui::locale::{define_messages, message, plural_message};
pub use crate::ui::messages::chat_settings;

define_messages! {
    name: "Search and commands", "搜索与命令";
    search_box: "Search or run a command", "搜索或执行命令";
    results_list: "Results", "结果";
    searching: "Searching…", "正在搜索…";
    offline: "Offline: only commands can be found at the moment.", "已离线，目前只能查找命令。";
    indexing: "Older messages are still being indexed.", "更早的消息仍在建立索引。";

    recent: "Recent chats", "最近的对话";
    commands: "Commands", "命令";
    chats: "Chats", "对话";
    messages: "Messages", "消息";
    documents: "Documents", "文档";
    settings: "Settings", "设置";
    more: "More", "更多";

    new_chat: "New chat", "新建对话";
    stop: "Stop the reply", "停止回复";
    sidebar: "Show or hide the list of chats", "显示或隐藏对话列表";
    tree: "Show or hide the tree of this chat", "显示或隐藏对话树";
    all_chats: "All chats, archive", "全部对话，归档";
    all_documents: "Documents", "文档";
    new_document: "New document", "新建文档";
    shortcuts: "Keyboard shortcuts", "快捷键";
    theme_system: "Theme: as the system", "主题：跟随系统";
    theme_light: "Theme: light", "主题：浅色";
    theme_dark: "Theme: dark", "主题：深色";
    find_in_chat: "Find in this chat", "在此对话中查找";
    rename_chat: "Rename this chat", "重命名此对话";
    export_chat: "Export this chat", "导出此对话";
    chat_tools: "Tools of this chat", "此对话的工具";
    general: "General settings, language", "常规设置，语言";
    appearance: "Appearance, text size", "外观，文字大小";
    providers: "Providers and models", "服务商与模型";
    tools: "Tools and servers", "工具与服务器";
    usage: "Usage and cost", "用量与费用";
    keys: "Change shortcut keys", "修改快捷键";
    data: "Data: import, export", "数据：导入、导出";
    trash: "Trash", "回收站";
    about: "About this server", "关于此服务器";
}
pub const API: &str = "HTTP API";

/// The label of the row that opens the search page.
pub fn search_all(words: &str) -> String {
    message!("Search everything for “{words}”", "在全部内容中搜索“{words}”")
}

pub fn no_results(words: &str) -> String {
    message!("Nothing for “{words}”.", "没有找到“{words}”。")
}

pub fn results(count: usize) -> String {
    plural_message!(count; "1 result", "{count} results"; "{count} 条结果")
}

/// The number of results while the index is incomplete.
pub fn results_so_far(count: usize) -> String {
    let (results, indexing) = (results(count), indexing());
    message!("{results}. {indexing}", "{results}。{indexing}")
}
