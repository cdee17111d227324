//! The words of what goes out and comes in, in both languages.

use crate::ui::locale::{counted, said, word, words};
pub use crate::ui::words::standalone::{format_called, kind};
use turnleaf_service::transfer::imports::{DISK_IS_LOW, Outcome};

words! {
    title: "Data", "数据";
    take_out: "Export", "导出";
    everything: "Export everything", "导出全部";
    everything_what: "One archive with all chats and their branches, what providers sent, images and documents. Keys and settings stay here.", "一个包含所有对话及其分支、服务商原始内容、图片和文档的存档。密钥和设置不会导出。";
    take_in: "Import", "导入";
    take_in_what: "An archive of Turnleaf, or what ChatGPT, Claude, Open WebUI, LibreChat, llama.cpp or big-AGI exported: the file as it came, also a zip. Nothing is sent anywhere. Nothing comes in twice; a later file of the same account adds what is new.", "Turnleaf 存档，或 ChatGPT、Claude、Open WebUI、LibreChat、llama.cpp、big-AGI 导出的文件，原样上传即可，zip 也可以。内容不会发送到别处。内容不会重复导入；同一账户之后导出的文件只会补充新内容。";
    file: "File", "文件";
    what_it_is: "What it is", "文件来源";
    by_content: "Find out from the file", "根据文件内容判断";
    only_look: "Only look: say what would come in, and store nothing", "仅检查：说明会导入什么，不保存";
    begin: "Import", "开始导入";
    /// A file is on its way.
    sending: "Sending…", "正在发送…";
    stop: "Stop", "停止";
    storage: "Storage used", "存储用量";
    storage_what: "Deleted things count until they leave Trash. Database indexes are not counted.", "已删除的内容在移出回收站前仍计入用量。不含数据库索引。";
    back_up: "Back up", "备份";
    back_up_sqlite: "The whole database, with settings and sealed keys, is copied by this command, also while the server runs; the second puts a copy back, while it does not. Sealed keys are opened by secret.key in the data directory: keep a copy of that file, too:", "用以下命令可在服务器运行时复制整个数据库，包括设置和加密的密钥；第二条命令在服务器停止时恢复备份。加密的密钥需要数据目录中的 secret.key 才能解开，请一并备份该文件：";
    back_up_postgres: "The database is PostgreSQL: use its own tools. Sealed keys are opened by secret.key in the data directory: keep a copy of that file, too.", "数据库为 PostgreSQL，请使用其自带工具。加密的密钥需要数据目录中的 secret.key 才能解开，请一并备份该文件：";
    imports: "Imports since the server started", "服务器启动以来的导入";
    import: "Import", "导入";
    looking: "This page looks again by itself until it is over.", "此页面会自动刷新，直到完成。";
    over: "Finished.", "已完成。";
    over_look: "Nothing was stored: this was only a look.", "仅检查，未保存任何内容。";
    failed: "Nothing came in.", "未导入任何内容。";
    known: "here already", "已存在";
    grown: "here already, went on", "已存在，已续上";
    in_trash: "in Trash", "在回收站中";
    imported: "imported", "已导入";
    left_out: "left out", "未导入";
    chats: "Chats", "对话";
    what_came: "What came of it", "结果";
    findings: "What to know", "需要注意";
    place: "Where", "位置";
    unknown: "not known yet", "尚未确定";
    export_chat: "Export this chat", "导出此对话";
    archive: "Archive (JSON)", "存档（JSON）";
    archive_what: "Everything of this chat, with all branches and what providers sent. Turnleaf takes it in again as an equal chat.", "此对话的全部内容，包括所有分支和服务商原始内容。Turnleaf 可将其重新导入为相同的对话。";
    damaged: "Parts of this chat are damaged in the database. Exports have everything else and say what is missing.", "此对话的部分内容在数据库中已损坏。导出包含其余全部内容，并说明缺少什么。";
    markdown: "Markdown", "Markdown";
    page: "Page (HTML)", "网页（HTML）";
    page_what: "The path that is shown, as it looks here, in one file with its pictures. It is read and printed without Turnleaf and without a network.", "当前显示的路径，外观与此处相同，连同图片保存为一个文件，无需 Turnleaf 和网络即可阅读和打印。";
    git: "Git repository", "Git 仓库";
    git_what: "All branches as a bare repository in a ZIP: each message and each reply is a commit, each branch a ref. Reasoning and tools are in it; what providers sent is in the archive alone.", "以 ZIP 打包的裸仓库，包含所有分支：每条消息和回复是一个提交，每个分支是一个引用。其中包含思考过程和工具调用；服务商原始内容仅在存档中。";
    markdown_what: "The path that is shown, for people.", "当前显示的路径，便于阅读。";
    reasoning: "Reasoning", "思考过程";
    tools: "Tools", "工具";
    folded: "Folded", "折叠";
    full: "Shown", "展开";
    without: "Left out", "省略";
    download: "Download", "下载";
    file_as_it_is: "Format", "格式";
    untitled: "Untitled", "未命名";
    where_from: "The messages below are in English.", "以下说明为英文。";
}

/// How far an import is.
pub fn so_far(conversations: u64) -> String {
    counted!(conversations; "{conversations} conversation read.", "{conversations} conversations read."; "已读取 {conversations} 个对话。")
}

/// What came in, was here, was left out.
pub fn sums(imported: u64, known: u64, left_out: u64) -> String {
    said!(
        "{imported} imported, {known} here already, {left_out} left out.",
        "导入 {imported} 个，已存在 {known} 个，未导入 {left_out} 个。"
    )
}

/// What is kept of what may be.
pub fn used_of(used: &str, quota: &str) -> String {
    said!("{used} of {quota}", "{used}，共 {quota}")
}

/// What it consists of.
pub fn used_parts(chats: &str, files: &str, documents: &str, waiting: &str) -> String {
    said!(
        "Chats {chats}, files {files}, documents {documents}, waiting imports {waiting}.",
        "对话 {chats}，文件 {files}，文档 {documents}，等待导入 {waiting}。"
    )
}

/// Conversations that the quota or the disk had no room for.
pub fn did_not_fit(count: u64) -> String {
    counted!(
        count; "There was no room for {count} conversation.", "There was no room for {count} conversations.";
        "{count} 个对话因空间不足未能导入。"
    )
}

/// How much came along.
pub fn along(turns: u64, branches: u64, files: u64, documents: u64) -> String {
    said!(
        "{turns} messages and replies on {branches} branches, {files} files, {documents} documents.",
        "共 {turns} 条消息和回复，{branches} 个分支，{files} 个文件，{documents} 篇文档。"
    )
}

/// The file could not be read, or not to its end.
pub fn stopped(why: &str, has_begun: bool) -> String {
    let known = [
        ("this is not a file of a program that Turnleaf knows", "Turnleaf 不认识此文件的来源程序"),
        ("this is not a file with conversations", "此文件中没有对话"),
        ("this is not an archive of Turnleaf", "此文件不是 Turnleaf 存档"),
        ("this is not JSON", "此文件不是 JSON"),
        (DISK_IS_LOW, "服务器磁盘空间即将用尽"),
    ];
    let known = known.into_iter().find(|(english, _)| *english == why);
    let why = known.map_or(why, |(english, chinese)| word(english, chinese));
    match has_begun {
        true => said!("It ended early: {why}. What came in before stays.", "提前结束：{why}。此前导入的内容会保留。"),
        false => said!("The import failed: {why}.", "导入失败：{why}。"),
    }
}

/// What the file is.
pub fn format(name: &str) -> String {
    said!("Format: {name}", "格式：{name}")
}

/// What became of a conversation.
pub fn outcome(outcome: Outcome) -> &'static str {
    match outcome {
        Outcome::Imported => imported(),
        Outcome::Known => known(),
        Outcome::Grown => grown(),
        Outcome::InTrash => in_trash(),
        Outcome::LeftOut => left_out(),
    }
}
