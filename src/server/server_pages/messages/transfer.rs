//! Messages of import and export, in both languages.

use crate::ui::locale::{define_messages, localized_word, message, plural_message};
pub use crate::ui::messages::standalone::{difference_kind, format_name};
use turnleaf_service::transfer::imports::{DISK_IS_LOW, ImportOutcome};

define_messages! {
    title: "Data", "数据";
    export_section: "Export", "导出";
    export_all: "Export everything", "导出全部";
    export_all_hint: "One archive with all chats and their branches, what providers sent, images and documents. Keys and settings stay here.", "一个包含所有对话及其分支、服务商原始内容、图片和文档的存档。密钥和设置不会导出。";
    import_section: "Import", "导入";
    import_hint: "An archive of Turnleaf, or what ChatGPT, Claude, Open WebUI, LibreChat, llama.cpp or big-AGI exported: the file as it came, also a zip. Nothing is sent anywhere. Nothing comes in twice; a later file of the same account adds what is new.", "Turnleaf 存档，或 ChatGPT、Claude、Open WebUI、LibreChat、llama.cpp、big-AGI 导出的文件，原样上传即可，zip 也可以。内容不会发送到别处。内容不会重复导入；同一账户之后导出的文件只会补充新内容。";
    file: "File", "文件";
    import_format: "What it is", "文件来源";
    detect_format: "Find out from the file", "根据文件内容判断";
    dry_run: "Only look: say what would come in, and store nothing", "仅检查：说明会导入什么，不保存";
    start_import: "Import", "开始导入";
    /// A file is on its way.
    sending: "Sending…", "正在发送…";
    stop: "Stop", "停止";
    storage: "Storage used", "存储用量";
    storage_hint: "Deleted things count until they leave Trash. Database indexes are not counted.", "已删除的内容在移出回收站前仍计入用量。不含数据库索引。";
    back_up: "Back up", "备份";
    back_up_sqlite: "The whole database, with settings and sealed keys, is copied by this command, also while the server runs; the second puts a copy back, while it does not. Sealed keys are opened by secret.key in the data directory: keep a copy of that file, too:", "用以下命令可在服务器运行时复制整个数据库，包括设置和加密的密钥；第二条命令在服务器停止时恢复备份。加密的密钥需要数据目录中的 secret.key 才能解开，请一并备份该文件：";
    back_up_postgres: "The database is PostgreSQL: use its own tools. Sealed keys are opened by secret.key in the data directory: keep a copy of that file, too.", "数据库为 PostgreSQL，请使用其自带工具。加密的密钥需要数据目录中的 secret.key 才能解开，请一并备份该文件：";
    imports: "Imports since the server started", "服务器启动以来的导入";
    import: "Import", "导入";
    refreshes: "This page looks again by itself until it is over.", "此页面会自动刷新，直到完成。";
    finished: "Finished.", "已完成。";
    dry_run_finished: "Nothing was stored: this was only a look.", "仅检查，未保存任何内容。";
    failed: "Nothing came in.", "未导入任何内容。";
    already_present: "here already", "已存在";
    updated: "here already, went on", "已存在，已续上";
    in_trash: "in Trash", "在回收站中";
    imported: "imported", "已导入";
    left_out: "left out", "未导入";
    chats: "Chats", "对话";
    results: "What came of it", "结果";
    findings: "What to know", "需要注意";
    place: "Where", "位置";
    unknown: "not known yet", "尚未确定";
    export_chat: "Export this chat", "导出此对话";
    archive: "Archive (JSON)", "存档（JSON）";
    archive_hint: "Everything of this chat, with all branches and what providers sent. Turnleaf takes it in again as an equal chat.", "此对话的全部内容，包括所有分支和服务商原始内容。Turnleaf 可将其重新导入为相同的对话。";
    damaged: "Parts of this chat are damaged in the database. Exports have everything else and say what is missing.", "此对话的部分内容在数据库中已损坏。导出包含其余全部内容，并说明缺少什么。";
    markdown: "Markdown", "Markdown";
    page: "Page (HTML)", "网页（HTML）";
    page_hint: "The path that is shown, as it looks here, in one file with its pictures. It is read and printed without Turnleaf and without a network.", "当前显示的路径，外观与此处相同，连同图片保存为一个文件，无需 Turnleaf 和网络即可阅读和打印。";
    git: "Git repository", "Git 仓库";
    git_hint: "All branches as a bare repository in a ZIP: each message and each reply is a commit, each branch a ref. Reasoning and tools are in it; what providers sent is in the archive alone.", "以 ZIP 打包的裸仓库，包含所有分支：每条消息和回复是一个提交，每个分支是一个引用。其中包含思考过程和工具调用；服务商原始内容仅在存档中。";
    markdown_hint: "The path that is shown, for people.", "当前显示的路径，便于阅读。";
    reasoning: "Reasoning", "思考过程";
    tools: "Tools", "工具";
    folded: "Folded", "折叠";
    full: "Shown", "展开";
    omitted: "Left out", "省略";
    download: "Download", "下载";
    format_label: "Format", "格式";
    untitled: "Untitled", "未命名";
    messages_are_english: "The messages below are in English.", "以下说明为英文。";
}

/// Returns the progress of an import.
pub fn import_progress(conversations: u64) -> String {
    plural_message!(conversations; "{conversations} conversation read.", "{conversations} conversations read."; "已读取 {conversations} 个对话。")
}

/// Returns the sums of imported, known and skipped conversations.
pub fn import_sums(imported: u64, known: u64, left_out: u64) -> String {
    message!(
        "{imported} imported, {known} here already, {left_out} left out.",
        "导入 {imported} 个，已存在 {known} 个，未导入 {left_out} 个。"
    )
}

/// Returns the used part of the quota.
pub fn storage_of_quota(used: &str, quota: &str) -> String {
    message!("{used} of {quota}", "{used}，共 {quota}")
}

/// Returns the parts of the used storage.
pub fn storage_parts(chats: &str, files: &str, documents: &str, waiting: &str) -> String {
    message!(
        "Chats {chats}, files {files}, documents {documents}, waiting imports {waiting}.",
        "对话 {chats}，文件 {files}，文档 {documents}，等待导入 {waiting}。"
    )
}

/// Returns the number of conversations for which there was no room.
pub fn skipped_for_space(count: u64) -> String {
    plural_message!(
        count; "There was no room for {count} conversation.", "There was no room for {count} conversations.";
        "{count} 个对话因空间不足未能导入。"
    )
}

/// Returns the counts of imported objects.
pub fn imported_counts(turns: u64, branches: u64, files: u64, documents: u64) -> String {
    message!(
        "{turns} messages and replies on {branches} branches, {files} files, {documents} documents.",
        "共 {turns} 条消息和回复，{branches} 个分支，{files} 个文件，{documents} 篇文档。"
    )
}

/// Returns the sentence about a file that could not be read, or not to its end.
pub fn import_stopped(why: &str, has_begun: bool) -> String {
    let known = [
        ("this is not a file of a program that Turnleaf knows", "Turnleaf 不认识此文件的来源程序"),
        ("this is not a file with conversations", "此文件中没有对话"),
        ("this is not an archive of Turnleaf", "此文件不是 Turnleaf 存档"),
        ("this is not JSON", "此文件不是 JSON"),
        (DISK_IS_LOW, "服务器磁盘空间即将用尽"),
    ];
    let known = known.into_iter().find(|(english, _)| *english == why);
    let why = known.map_or(why, |(english, chinese)| localized_word(english, chinese));
    match has_begun {
        true => {
            message!("It ended early: {why}. What came in before stays.", "提前结束：{why}。此前导入的内容会保留。")
        }
        false => message!("The import failed: {why}.", "导入失败：{why}。"),
    }
}

/// Returns the detected format of the file.
pub fn detected_format(name: &str) -> String {
    message!("Format: {name}", "格式：{name}")
}

/// Returns the word for the outcome of a conversation.
pub fn outcome_name(outcome: ImportOutcome) -> &'static str {
    match outcome {
        ImportOutcome::Imported => imported(),
        ImportOutcome::Known => already_present(),
        ImportOutcome::Grown => updated(),
        ImportOutcome::InTrash => in_trash(),
        ImportOutcome::LeftOut => left_out(),
    }
}
