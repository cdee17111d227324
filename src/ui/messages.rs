//! The messages of the page, in both languages. They are whole sentences, so that each language can order them
//! differently.

pub mod amounts;
pub mod attachments;
pub mod branches;
pub mod chats;
pub mod commands;
pub mod document_quoting;
pub mod elicitation;
pub mod keys;
pub mod model_picker;
pub mod palette;
pub mod provider_connect;
pub mod queue;
pub mod server_messages;
pub mod share;
pub mod standalone;
pub mod stored_codes;
pub mod transcript;
pub mod trash;
pub mod tree;
pub mod turn_actions;
pub mod usage;

use crate::domain::providers::provider::Model;
use crate::domain::{Branch, Thinking, UNKNOWN_MODEL};
use crate::ui::locale::{define_messages, localized_word, message};

pub const PRODUCT: &str = "Turnleaf";
define_messages! {
    close: "Close", "关闭";
    dismiss: "Dismiss", "关闭提示";
    cancel: "Cancel", "取消";
    save: "Save", "保存";
    undo: "Undo", "撤销";
    retry: "Retry", "重试";

    // Frame
    skip_to_message: "Skip to the message box", "跳到消息输入框";
    skip_to_latest: "Skip to the latest reply", "跳到最新的回复";
    chats: "Chats", "对话";
    new_chat: "New chat", "新建对话";
    show_chats: "Show chats", "显示对话列表";
    hide_chats: "Hide chats", "隐藏对话列表";
    no_chats: "Your chats will appear here.", "你的对话会列在这里。";
    chats_failed: "Could not load your chats.", "无法加载你的对话。";
    /// The loading states of a lazily loaded part.
    loading_part: "Loading…", "正在加载…";
    open_as_page: "Open as a page", "作为页面打开";
    part_load_failed: "Could not load this part of the page. Check your connection or reload the page.",
        "无法加载页面的这一部分。请检查连接，或重新加载页面。";
    loading_chats: "Loading chats…", "正在加载对话列表…";
    loading_chat: "Loading chat…", "正在加载对话…";
    untitled: "New chat", "新对话";
    draft: "Draft", "草稿";
    answering: "replying", "正在回复";
    needs_you: "needs your input", "等你处理";
    unread: "new reply", "有新回复";
    older_chats: "Show older chats", "显示更早的对话";
    still_loading: "Still loading…", "仍在加载…";
    print: "Print", "打印";
    preparing_print: "Preparing all messages to print…", "正在准备打印全部消息…";
    print_failed: "Could not prepare the messages to print.", "无法准备要打印的消息。";
    rename_hint: "Click to rename", "点按可重命名";
    notices: "Recent notices", "最近的提示";
    no_notices: "No notices yet.", "暂无提示。";
    notify_complete: "Reply complete.", "回复完成。";
    notify_failed: "The reply failed.", "回复失败。";
    notify_waits: "A reply needs your input.", "有回复等你处理。";
    more_for_chat: "More actions for this chat", "此对话的更多操作";
    search: "Search", "搜索";
    find: "Find", "查找";
    find_in_chat: "Find in chat", "在对话中查找";
    find_words: "Text to find", "要查找的文字";
    find_next: "Next", "下一个";
    find_before: "Previous", "上一个";
    found_nothing: "No matches", "未找到";
    message_load_failed: "Could not load this message. Search again.", "无法加载此消息，请重新查找。";
    rename: "Rename", "重命名";
    delete: "Delete", "删除";
    title: "Title", "标题";
    deleted_can_undo: "Deleted. Undo available.", "已删除，可撤销。";
    restored: "Chat restored.", "对话已恢复。";
    renamed: "Renamed.", "已重命名。";
    settings: "Settings", "设置";
    notifications: "Notifications", "通知";
    documents: "Documents", "文档";
    usage: "Usage", "用量";
    trash: "Trash", "回收站";
    sign_out: "Sign out", "退出登录";
    theme_label: "Theme", "主题";
    basic_mode: "Running in basic mode: this page works with forms and links only.", "当前为基本模式：此页面只使用表单和链接。";
    refresh: "Refresh", "刷新";

    // Composer
    message: "Message", "消息";
    send: "Send", "发送";
    sending: "Sending…", "正在发送…";
    stop_reply: "Stop reply", "停止回复";
    stopping: "Stopping…", "正在停止…";
    sent: "Sent.", "已发送。";
    stopped: "Stopped.", "已停止。";
    chat_settings: "Chat settings", "对话设置";
    tools: "Tools", "工具";
    compare: "Compare branches", "比较分支";
    model: "Model", "模型";
    thinking: "Thinking", "思考";
    switching_starts_branch: "Switching models starts a branch.", "换用其他模型会开始一个新分支。";
    new_branch: "new branch", "新分支";
    other_model: "Switch model in a new branch", "在新分支中换用其他模型";
    choose_model: "Choose a model", "选择模型";
    higher_box: "Expand message box", "展开输入框";
    lower_box: "Collapse message box", "收起输入框";
    write_first: "Enter a message first.", "请先输入内容。";
    not_sent: "Not sent.", "未发送。";
    follows_path: "Your message will be sent once this branch loads.", "此分支加载后会发送你的消息。";
    still_sending: "Your last message is still being sent.", "你的上一条消息仍在发送。";
    too_long: "This message is too long to send. Shorten it.", "此消息过长，无法发送，请缩短。";
    /// The message may have arrived after all.
    not_answered: "The server did not respond in time, so your message is back in the message box. If it did arrive, \
        it won't be sent twice.", "服务器未及时响应，消息已放回输入框。如果其实已送达，也不会重复发送。";
    draft_elsewhere: "Draft changed in another tab", "草稿已在另一个标签页中更改";
    use_newer_draft: "Use newer draft", "使用较新的草稿";
    draft_unsaved: "Draft saved in this browser, but not on the server yet.", "草稿已保存在此浏览器中，尚未保存到服务器。";

    // Missing pages
    not_found_title: "Not found", "未找到";
    not_found_page: "This page does not exist.", "此页面不存在。";
    not_found_chat: "This chat does not exist, or you do not have access to it.", "该对话不存在，或你无权访问。";
    page_failed: "Could not load this page", "无法加载此页面";

    // Empty chat
    greeting: "What would you like to talk about?", "想聊些什么？";
    ask_anything: "Ask anything…", "想问什么都可以…";
    /// The beginnings of a first message. The ellipsis stands for what the person adds.
    starters: "Ideas to start with", "可以这样开始";
    starter_explain: "Explain step by step…", "请逐步讲解…";
    starter_write: "Help me write…", "帮我写…";
    starter_compare: "Compare…", "请比较…";
    connect_first: "Connect a model to start.", "连接一个模型即可开始。";
    connect_hint: "API keys are encrypted on this server and never shown. Environment variables such as OPENAI_API_KEY \
        work too.", "API \
        密钥加密保存在此服务器上，绝不显示。也可以使用 OPENAI_API_KEY 这样的环境变量。";
    other_server: "Other server", "其他服务器";
    recent: "Continue where you left off", "继续上次的对话";
    try_demo: "Try the demo", "试用演示";
    try_demo_hint: "Scripted replies that work offline. See reasoning, tool calls, and branches without an API key.",
        "预先写好的回复，离线可用。展示思考过程、工具调用和分支，无需 API 密钥。";
    /// The first message after pressing "Try the demo".
    demo_message: "Show me what you can do.", "让我看看你能做什么。";
    copy: "Copy", "复制";
    copied: "Copied.", "已复制。";
    copied_mark: "Copied ✓", "已复制 ✓";

    // Connection
    reconnecting: "Reconnecting… The reply is still being generated.", "正在重新连接…回复仍在生成。";
    offline: "You're offline. Your draft is kept.", "已离线，你输入的内容会保留。";
    connected: "Connected.", "已连接。";
    connection_lost: "Connection lost. Reconnecting…", "连接中断，正在重新连接…";
    try_now: "Retry now", "立即重试";
    connection_details: "Details", "详情";
    updates_held_back: "Something between this page and the server holds updates back, such as a proxy. The page asks for them every few seconds instead.",
        "此页面与服务器之间（例如代理）阻碍了实时更新，页面改为每隔几秒查询一次。";
    new_version: "A new version is available. Reload when you are ready; your draft is kept.",
        "有新版本。准备好后请重新加载，你输入的内容会保留。";
    reload: "Reload", "重新加载";

    // Shortcuts
    shortcuts: "Keyboard shortcuts", "快捷键";
}

/// The position of the shown turn among the search hits.
pub fn found_position(number: usize, total: u32) -> String {
    let (number, total) = (amounts::number(number as u64), amounts::number(total.into()));
    message!("{number} of {total}", "{number} / {total}")
}

/// Returns the document's title on a chat's page.
pub fn document_title(title: &str, running: bool, needs_you: bool) -> String {
    let title = if title.is_empty() { untitled() } else { title };
    match (running, needs_you) {
        (_, true) => format!("● {} · {title} · {PRODUCT}", self::needs_you()),
        (true, false) => format!("● {title} · {PRODUCT}"),
        (false, false) => format!("{title} · {PRODUCT}"),
    }
}

/// The label of the link to the tools of a chat.
pub fn tools_on(count: usize) -> String {
    message!("Tools: {count} on", "工具：已启用 {count} 个")
}

/// The label of the button that chooses another model.
pub fn continue_with(model: &str) -> String {
    message!("Continue with {model} in a new branch", "在新分支中用 {model} 继续")
}

/// The name of a branch behind that of the branch from which it was forked.
pub fn branch_path(branch: &Branch, from: Option<&str>) -> String {
    let from = from.map(|from| format!("{} ▸ ", branches::branch_name(from))).unwrap_or_default();
    format!("{from}{}", branches::branch_name(&branch.name))
}

/// The reason why a form submitted without script failed, from the code in the address.
pub fn form_problem(code: &str) -> Option<&'static str> {
    Some(match code {
        "invalid" => localized_word(
            "This could not be sent. Your text is kept; check it and try again.",
            "无法发送。你的文字已保留，请检查后重试。",
        ),
        "conflict" => localized_word(
            "The chat has changed since this page loaded. Your text is kept; send it again.",
            "此页面加载后对话有了变化。你的文字已保留，请重新发送。",
        ),
        "too_many" => localized_word(
            "Too many requests. Your text is kept; try again in a moment.",
            "请求过于频繁。你的文字已保留，请稍后重试。",
        ),
        "too_large" => localized_word(
            "This message is too long to send. Go back and shorten it.",
            "此消息过长，无法发送。请返回并缩短。",
        ),
        "not_found" => localized_word(
            "The original chat or message no longer exists. Your text is kept.",
            "原来的对话或消息已不存在，你的文字已保留。",
        ),
        "unauthenticated" => localized_word("Sign in first. Your text is kept.", "请先登录，你的文字已保留。"),
        "unavailable" | "internal" => localized_word(
            "The server could not complete this right now. Your text is kept; try again.",
            "服务器暂时无法完成此操作。你的文字已保留，请重试。",
        ),
        _ => return None,
    })
}

/// The name of a model in the menu and on the chip. The scripted demo must never pass for a model.
pub fn model_name(model: &Model) -> String {
    let name = &model.name;
    if model.is_demo { message!("Demo: {name}", "演示：{name}") } else { name.clone() }
}

/// The name of a thinking level in its menu.
pub fn thinking_level(level: Thinking) -> &'static str {
    match level {
        Thinking::Off => localized_word("No thinking", "不思考"),
        Thinking::Low => localized_word("Think a little", "少量思考"),
        Thinking::Medium => localized_word("Think", "思考"),
        Thinking::High => localized_word("Think hard", "深入思考"),
        Thinking::Budget(_) => localized_word("Thinking budget", "思考预算"),
    }
}

/// The name of a theme in its menu.
pub fn theme(theme: &str) -> &'static str {
    match theme {
        "light" => localized_word("Light", "浅色"),
        "dark" => localized_word("Dark", "深色"),
        _ => localized_word("System", "跟随系统"),
    }
}

/// The label of the button that opens a chat's menu in the list.
pub fn chat_menu(title: &str) -> String {
    message!("More actions for {title}", "“{title}”的更多操作")
}

/// The notice on a local server that responds and needs no key.
pub fn found_locally(name: &str, address: &str, has_models: bool) -> String {
    if !has_models {
        return message!(
            "{name} is running at {address} but has no models yet. Download one (with Ollama: “ollama pull qwen3”), \
            then select Test in Settings › Providers.",
            "{name} 正在 {address} 运行，但还没有模型。请先下载一个（Ollama 可用“ollama pull qwen3”），然后在“设置 › 服务商”中点按“测试”。"
        );
    }
    message!(
        "{name} is running at {address}. Select “Use it” in Settings › Providers.",
        "{name} 正在 {address} 运行。请在“设置 › 服务商”中点按“使用”。"
    )
}

/// The name of a model by its lock: the source of an imported chat may not contain it.
pub fn model_name_or_unknown(model: &str) -> &str {
    if model == UNKNOWN_MODEL { localized_word("unknown model", "未知模型") } else { model }
}

/// The notice on a branch whose model is no longer available.
pub fn model_unavailable(model: &str) -> String {
    if model == UNKNOWN_MODEL {
        return localized_word(
            "This chat was imported and its model is unknown. Choose a model to continue in a new branch.",
            "此对话是导入的，模型未知。请选择一个模型，对话会在新分支中继续。",
        )
        .to_owned();
    }
    message!(
        "{model} is no longer available. Choose another model to continue in a new branch.",
        "{model} 已不可用。请选择其他模型，对话会在新分支中继续。"
    )
}

/// The toast after deleting a chat.
pub fn deleted(title: &str) -> String {
    message!("Deleted “{title}”.", "已删除“{title}”。")
}
