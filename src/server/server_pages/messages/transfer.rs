//! Messages of import and export, in both languages.

use crate::ui::locale::{define_messages, join_list, localized_word, message, plural_message};
use crate::ui::messages::amounts::number;
pub use crate::ui::messages::standalone::{difference_kind, format_name};
use turnleaf_service::transfer::imports::{DISK_IS_LOW, ImportOutcome};

define_messages! {
    title: "Data", "数据";
    export_section: "Export", "导出";
    export_all: "Export everything", "导出全部";
    export_all_hint: "One archive with all chats and branches, provider responses, images and documents. API keys and \
        settings are not included.", "一个包含所有对话及其分支、服务商的原始响应、图片和文档的存档。不包括 API 密钥和设置。";
    import_section: "Import", "导入";
    import_hint: "A Turnleaf archive, a git repository that Turnleaf exported, or an export from one of the programs \
        listed under “Format”, unmodified, zipped or not; \
        sessions of Claude Code, Codex or the Gemini CLI, one by one or a zipped folder. \
        Nothing is sent anywhere. Importing the same chats again adds only what is new.", "Turnleaf \
        存档、Turnleaf 导出的 git 仓库，或“格式”中所列程序导出的文件，原样上传即可，zip \
        也可以；\
        还可导入 Claude Code、Codex、Gemini CLI 的会话文件，单个文件或打包成 zip 的文件夹均可。\
        内容不会发送到别处。再次导入相同的对话时，只会补充新内容。";
    file: "File", "文件";
    import_format: "Format", "格式";
    detect_format: "Detect automatically", "自动识别";
    dry_run: "Dry run: preview without importing", "试运行：仅预览，不导入";
    start_import: "Import", "导入";
    /// A file is on its way.
    sending: "Uploading…", "正在上传…";
    stop: "Stop", "停止";
    storage: "Storage used", "存储用量";
    storage_hint: "Deleted items count until they leave Trash. Database indexes are not counted.",
        "已删除的内容在移出回收站前仍计入用量。不含数据库索引。";
    back_up: "Back up", "备份";
    back_up_sqlite: "The first command copies the whole database, including settings and encrypted API keys, even \
        while the server runs. The second restores a copy while the server is stopped. Decrypting the keys requires \
        secret.key from the data directory: back up that file too:", "第一条命令可复制整个数据库，包括设置和加密的 \
        API 密钥，服务器运行时也可使用；第二条命令在服务器停止时恢复备份。解密密钥需要数据目录中的 secret.key，请一并备份该文件：";
    back_up_postgres: "The database is PostgreSQL: use its own tools. Decrypting API keys requires secret.key from \
        the data directory: back up that file too.", "数据库为 \
        PostgreSQL，请使用其自带工具。解密 API 密钥需要数据目录中的 secret.key，请一并备份该文件。";
    imports: "Imports since the server started", "服务器启动以来的导入";
    import: "Import", "导入";
    refreshes: "This page refreshes until the import is finished.", "此页面会自动刷新，直到完成。";
    finished: "Finished.", "已完成。";
    dry_run_finished: "Dry run: nothing was imported.", "试运行：未导入任何内容。";
    failed: "Nothing was imported.", "未导入任何内容。";
    already_present: "already imported", "已存在";
    updated: "updated", "已更新";
    in_trash: "in Trash", "在回收站中";
    imported: "imported", "已导入";
    left_out: "skipped", "已跳过";
    chats: "Chats", "对话";
    results: "Results", "结果";
    findings: "Notes", "说明";
    place: "Location", "位置";
    unknown: "not known yet", "尚未确定";
    export_chat: "Export chat", "导出此对话";
    archive: "Archive (JSON)", "存档（JSON）";
    archive_hint: "Everything in this chat, with all branches and provider responses. Turnleaf can re-import it as an \
        identical chat.", "此对话的全部内容，包括所有分支和服务商的原始响应。Turnleaf 可将其重新导入为相同的对话。";
    damaged: "Parts of this chat are damaged in the database. Exports contain everything else and list what is \
        missing.", "此对话的部分内容在数据库中已损坏。导出的文件包含其余全部内容，并列出缺少的部分。";
    markdown: "Markdown", "Markdown";
    markdown_zip: "Markdown with images", "Markdown 与图片";
    page: "Page (HTML)", "网页（HTML）";
    page_hint: "The current branch as it looks here, in one file with its images. It can be read and printed without \
        Turnleaf or a network connection.", "当前显示的分支，外观与此处相同，连同图片保存为一个文件，无需 \
        Turnleaf 和网络即可阅读和打印。";
    git: "Git repository", "Git 仓库";
    git_hint: "All branches as a bare repository in a ZIP file. Each message and each reply is a commit, each branch \
        a ref. Includes reasoning and tool calls; provider responses are only in the archive.", "以 ZIP 打包的裸仓库，包含所有分支。每条消息和每条回复是一个提交，每个分支是一个引用。包含思考过程和工具调用；服务商的原始响应仅在存档中。";
    markdown_hint: "The current branch as readable text.", "当前显示的分支，便于阅读。";
    markdown_zip_hint: "The same text in a ZIP with the images that it links.", "同样的文本，与其链接的图片一起打包为 ZIP。";
    reasoning: "Reasoning", "思考过程";
    tools: "Tool calls", "工具调用";
    folded: "Collapsed", "折叠";
    full: "Expanded", "展开";
    omitted: "Omitted", "省略";
    download: "Download", "下载";
    format_label: "Format", "格式";
    untitled: "Untitled", "未命名";
    messages_are_english: "The notes below are in English.", "以下说明为英文。";
}

/// Returns the progress of an import.
pub fn import_progress(conversations: u64) -> String {
    let many = number(conversations);
    plural_message!(conversations; "{many} chat read.", "{many} chats read."; "已读取 {many} 个对话。")
}

/// Returns the sums of imported, known and skipped conversations.
pub fn import_sums(imported: u64, known: u64, left_out: u64) -> String {
    let [imported, known, left_out] = [imported, known, left_out].map(number);
    message!(
        "{imported} imported, {known} already imported, {left_out} skipped.",
        "导入 {imported} 个，已存在 {known} 个，跳过 {left_out} 个。"
    )
}

/// Returns the used part of the quota.
pub fn storage_of_quota(used: &str, quota: &str) -> String {
    message!("{used} of {quota}", "{used}，共 {quota}")
}

/// Returns the parts of the used storage.
pub fn storage_parts(chats: &str, files: &str, documents: &str, waiting: &str) -> String {
    message!(
        "Chats {chats}, files {files}, documents {documents}, pending imports {waiting}.",
        "对话 {chats}，文件 {files}，文档 {documents}，等待导入 {waiting}。"
    )
}

/// Returns the number of conversations for which there was no room.
pub fn skipped_for_space(count: u64) -> String {
    let many = number(count);
    plural_message!(
        count; "{many} chat was not imported: not enough space.", "{many} chats were not imported: not enough space.";
        "{many} 个对话因空间不足未能导入。"
    )
}

/// Returns the sentence about known chats that are in Trash.
pub fn known_in_trash(count: u64) -> String {
    let many = number(count);
    plural_message!(
        count; "{many} chat is in Trash; nothing is added to it there.", "{many} chats are in Trash; nothing is added to them there.";
        "{many} 个对话在回收站中，不会添加新内容。"
    )
}

/// Returns the sentence above a list that does not show everything.
pub fn list_is_cut(shown: u64, total: u64) -> String {
    let (shown, total) = (number(shown), number(total));
    message!("The first {shown} of {total} are shown.", "仅显示前 {shown} 项，共 {total} 项。")
}

/// Returns the counts of imported objects.
pub fn imported_counts(turns: u64, branches: u64, files: u64, documents: u64) -> String {
    let [many_turns, many_branches, many_files, many_documents] = [turns, branches, files, documents].map(number);
    let parts = [
        plural_message!(turns; "1 message or reply", "{many_turns} messages and replies"; "{many_turns} 条消息和回复"),
        plural_message!(branches; "1 branch", "{many_branches} branches"; "{many_branches} 个分支"),
        plural_message!(files; "1 file", "{many_files} files"; "{many_files} 个文件"),
        plural_message!(documents; "1 document", "{many_documents} documents"; "{many_documents} 篇文档"),
    ];
    let list = join_list(&parts);
    message!("{list}.", "共 {list}。")
}

/// Returns the sentence about a file that could not be read, or not to its end.
pub fn import_stopped(reason: &str, has_begun: bool) -> String {
    let known = [
        ("this is not a file from a program Turnleaf supports", "Turnleaf 不支持此文件的来源程序"),
        ("this is not a file with conversations", "此文件中没有对话"),
        ("this is not a Turnleaf archive", "此文件不是 Turnleaf 存档"),
        ("this is not JSON", "此文件不是 JSON"),
        (DISK_IS_LOW, "服务器磁盘空间即将用尽"),
    ];
    let known = known.into_iter().find(|(english, _)| *english == reason);
    let reason = known.map_or(reason, |(english, chinese)| localized_word(english, chinese));
    match has_begun {
        true => {
            message!(
                "The import stopped early: {reason}. What was imported before that is kept.",
                "导入提前结束：{reason}。此前导入的内容会保留。"
            )
        }
        false => message!("The import failed: {reason}.", "导入失败：{reason}。"),
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
