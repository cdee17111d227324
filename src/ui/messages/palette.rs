//! Messages of the palette, in both languages.

use crate::ui::locale::{define_messages, message, plural_message};
pub use crate::ui::messages::chats::projects;
pub use crate::ui::messages::{chat_settings, notifications};

define_messages! {
    name: "Search and commands", "搜索与命令";
    search_box: "Search or run a command", "搜索或执行命令";
    results_list: "Results", "结果";
    searching: "Searching…", "正在搜索…";
    offline: "Offline: only commands are available.", "已离线，仅可使用命令。";
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
    sidebar: "Show or hide the chat list", "显示或隐藏对话列表";
    tree: "Show or hide the chat tree", "显示或隐藏对话树";
    all_chats: "All chats and archive", "全部对话与归档";
    all_documents: "Documents", "文档";
    new_document: "New document", "新建文档";
    shortcuts: "Keyboard shortcuts", "快捷键";
    theme_system: "Theme: system", "主题：跟随系统";
    theme_light: "Theme: light", "主题：浅色";
    theme_dark: "Theme: dark", "主题：深色";
    find_in_chat: "Find in chat", "在对话中查找";
    rename_chat: "Rename chat", "重命名对话";
    export_chat: "Export chat", "导出对话";
    chat_tools: "Chat tools", "对话工具";
    general: "General settings and language", "常规设置与语言";
    appearance: "Appearance and text size", "外观与文字大小";
    providers: "Providers and models", "服务商与模型";
    tools: "Tools and servers", "工具与服务器";
    usage: "Usage and cost", "用量与费用";
    keys: "Change keyboard shortcuts", "更改快捷键";
    data: "Import and export data", "导入与导出数据";
    trash: "Trash", "回收站";
    about: "About this server", "关于此服务器";
}
pub const API: &str = "HTTP API";

/// The label of the row that opens the search page.
pub fn search_all(words: &str) -> String {
    message!("Search everything for “{words}”", "在全部内容中搜索“{words}”")
}

pub fn no_results(words: &str) -> String {
    message!("No results for “{words}”.", "没有找到“{words}”。")
}

pub fn results(count: usize) -> String {
    plural_message!(count; "1 result", "{count} results"; "{count} 条结果")
}

/// The number of results while the index is incomplete.
pub fn results_so_far(count: usize) -> String {
    let (results, indexing) = (results(count), indexing());
    message!("{results}. {indexing}", "{results}。{indexing}")
}
