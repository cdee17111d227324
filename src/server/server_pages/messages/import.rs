//! Messages of imports, in both languages.

use crate::domain::{ImportCreations, ImportDifferenceKind, ImportState, limits};
use crate::ui::locale::{define_messages, join_list, message, plural_message};
use crate::ui::messages::amounts::number;
pub use crate::ui::messages::standalone::{difference_kind, format_name};
use turnleaf_service::transfer::imports::ImportOutcome;

define_messages! {
    import_section: "Import", "导入";
    import_hint: "A Turnleaf archive, a git repository that Turnleaf exported, or an export from one of the programs \
        listed under “Format”, unmodified, zipped or not; \
        sessions of Claude Code, Codex or the Gemini CLI, one by one, several together, or a zipped folder. \
        Nothing is sent anywhere. You see what would be imported before anything is. \
        Importing the same chats again adds only what is new.", "Turnleaf \
        存档、Turnleaf 导出的 git 仓库，或“格式”中所列程序导出的文件，原样上传即可，zip \
        也可以；\
        还可导入 Claude Code、Codex、Gemini CLI 的会话文件，单个、多个或打包成 zip 的文件夹均可。\
        内容不会发送到别处。导入前会先预览将要导入的内容。再次导入相同的对话时，只会补充新内容。";
    files: "Files", "文件";
    drop_hint: "Choose files or drop them here.", "选择文件，或将文件拖放到此处。";
    advanced: "Advanced", "高级";
    import_format: "Format", "格式";
    detect_format: "Detect automatically", "自动识别";
    key_mapping: "Key mapping", "键映射";
    key_mapping_hint: "Only for the format “OpenAI-style messages”: the keys that the file uses instead, such as \
        role=author.name,content=body.", "仅用于“OpenAI 格式的消息”格式：文件所用的其他键名，例如 role=author.name,content=body。";
    preview: "Preview import", "预览导入";
    /// A file is on its way.
    sending: "Uploading…", "正在上传…";
    stop: "Stop", "停止";
    cancel_preview: "Cancel import", "取消导入";
    start_import: "Import", "导入";
    preview_cancelled: "Import cancelled. Nothing was imported.", "已取消导入，未导入任何内容。";
    history: "Past imports", "以往的导入";
    import: "Import", "导入";
    preview_title: "Import preview", "导入预览";
    refreshes: "This page refreshes until the import is finished.", "此页面会自动刷新，直到完成。";
    preview_refreshes: "Reading the file. Nothing is imported yet. This page refreshes until the preview is ready.",
        "正在读取文件，尚未导入任何内容。此页面会自动刷新，直到预览完成。";
    refresh: "Refresh", "刷新";
    finished: "Finished.", "已完成。";
    preview_ready: "Nothing is imported yet. This would be imported:", "尚未导入任何内容。将会导入：";
    nothing_new: "Everything in this file is already here.", "此文件中的内容都已存在。";
    dry_run_finished: "Dry run: nothing was imported.", "试运行：未导入任何内容。";
    preview_expired: "The file of this preview is no longer on the server. Upload it again to import it.",
        "此预览的文件已不在服务器上。如需导入，请重新上传。";
    see_import: "Open the import", "打开此导入";
    failed: "Nothing was imported.", "未导入任何内容。";
    already_present: "already imported", "已存在";
    updated: "updated", "已更新";
    in_trash: "in Trash", "在回收站中";
    imported: "imported", "已导入";
    new_chat: "new", "新";
    left_out: "skipped", "已跳过";
    chats: "Chats", "对话";
    chat_title: "Title", "标题";
    chat_outcome: "Result", "结果";
    chat_messages: "Messages", "消息数";
    findings: "Differences from the source", "与来源的差异";
    no_findings_of_kind: "None of these.", "没有此类差异。";
    all_kinds: "All", "全部";
    unknown: "not known yet", "尚未确定";
    untitled: "Untitled", "未命名";
    messages_are_english: "The notes below are in English.", "以下说明为英文。";
    undo: "Undo this import…", "撤销此导入…";
    undo_title: "Undo this import?", "撤销此导入？";
    undo_sure: "Undo import", "撤销导入";
    keep: "Cancel", "取消";
    restore: "Restore import", "恢复此导入";
    restored: "Restored.", "已恢复。";
    kept: "Kept", "保留的内容";
    kept_hint: "The undo kept these, because they were continued, changed, or are used elsewhere.",
        "这些内容因已被继续、修改或在别处使用，撤销时予以保留。";
    kept_in_use: "in use", "使用中";
    undo_rest: "Undo the rest…", "撤销其余部分…";
    undo_rest_title: "Undo the rest of this import?", "撤销此导入的其余部分？";
    undo_rest_sure: "Undo the rest", "撤销其余部分";
    forget: "Remove from list", "从列表中移除";
    forget_hint: "Removing the import from the list deletes this report. What was imported is kept.",
        "从列表中移除会删除此报告，已导入的内容会保留。";
    forgotten: "Import removed from the list.", "已从列表中移除此导入。";
    state_running: "running", "进行中";
    state_finished: "finished", "已完成";
    state_stopped: "stopped", "已停止";
    state_interrupted: "interrupted", "已中断";
    state_undone: "undone", "已撤销";
    state_preview: "preview", "预览";
    undone_imports: "Undone imports", "已撤销的导入";
}

/// Returns the progress of an import; `expected` is the number of chats that a preview counted.
pub fn import_progress(conversations: u64, expected: Option<u64>) -> String {
    let many = number(conversations);
    match expected.filter(|expected| *expected >= conversations) {
        Some(expected) => {
            let all = number(expected);
            plural_message!(
                expected; "{many} of {all} chat read.", "{many} of {all} chats read.";
                "已读取 {many} / {all} 个对话。"
            )
        }
        None => plural_message!(
            conversations; "{many} chat read.", "{many} chats read."; "已读取 {many} 个对话。"
        ),
    }
}

/// Returns the sums of imported, known and skipped conversations.
pub fn import_sums(imported: u64, known: u64, left_out: u64) -> String {
    let [imported, known, left_out] = [imported, known, left_out].map(number);
    message!(
        "{imported} imported, {known} already imported, {left_out} skipped.",
        "导入 {imported} 个，已存在 {known} 个，跳过 {left_out} 个。"
    )
}

/// Returns the sums of a preview: new, known and skipped conversations.
pub fn preview_sums(new: u64, known: u64, left_out: u64) -> String {
    let [many_new, many_known, many_skipped] = [new, known, left_out].map(number);
    let parts = [
        plural_message!(new; "{many_new} new chat", "{many_new} new chats"; "{many_new} 个新对话"),
        plural_message!(
            known; "{many_known} chat that is already here", "{many_known} chats that are already here";
            "{many_known} 个已存在的对话"
        ),
        plural_message!(
            left_out; "{many_skipped} chat that is skipped", "{many_skipped} chats that are skipped";
            "{many_skipped} 个将跳过的对话"
        ),
    ];
    let list = join_list(&parts);
    message!("{list}.", "{list}。")
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

/// Returns the sentence about an import whose file could not be read, or not to its end.
pub fn import_stopped(reason: &str, has_begun: bool) -> String {
    match has_begun {
        true => message!(
            "The import stopped early: {reason}. What was imported before that is kept.",
            "导入提前结束：{reason}。此前导入的内容会保留。"
        ),
        false => message!("The import failed: {reason}.", "导入失败：{reason}。"),
    }
}

/// Returns the sentence about a previewed file that could not be read to its end.
pub fn preview_stopped(reason: &str, is_importable: bool) -> String {
    match is_importable {
        true => message!(
            "The file could not be read to its end: {reason}. Only what comes before that would be imported.",
            "未能读完此文件：{reason}。只会导入此前的内容。"
        ),
        false => message!("The file could not be read to its end: {reason}.", "未能读完此文件：{reason}。"),
    }
}

/// Returns the detected format of the file.
pub fn detected_format(name: &str) -> String {
    message!("Format: {name}", "格式：{name}")
}

/// Returns the word for the outcome of a conversation, or for the expected one.
pub fn outcome_name(outcome: ImportOutcome, dry_run: bool) -> &'static str {
    match outcome {
        ImportOutcome::Imported if dry_run => new_chat(),
        ImportOutcome::Imported => imported(),
        ImportOutcome::Known => already_present(),
        ImportOutcome::Grown => updated(),
        ImportOutcome::InTrash => in_trash(),
        ImportOutcome::LeftOut => left_out(),
    }
}

/// Returns the name of a filter of differences with their number.
pub fn filter_name(kind: Option<ImportDifferenceKind>, count: u64) -> String {
    let (name, count) = (kind.map_or(all_kinds(), difference_kind), number(count));
    message!("{name} ({count})", "{name}（{count}）")
}

/// Returns the state of a recorded import.
pub fn state_name(state: ImportState) -> &'static str {
    match state {
        ImportState::Running => state_running(),
        ImportState::Finished => state_finished(),
        ImportState::Stopped => state_stopped(),
        ImportState::Interrupted => state_interrupted(),
        ImportState::Undone => state_undone(),
    }
}

/// Returns the time until which the file of a preview is kept.
pub fn preview_is_kept(until: &str) -> String {
    message!("The file is kept on the server until {until}.", "文件在服务器上保留至 {until}。")
}

/// Returns what an import created.
fn creations(of: &ImportCreations) -> String {
    let ImportCreations { chats, extended_chats, documents } = *of;
    let [many_chats, many_extended, many_documents] = [chats, extended_chats, documents].map(number);
    let parts = [
        (chats, plural_message!(chats; "{many_chats} chat", "{many_chats} chats"; "{many_chats} 个对话")),
        (
            extended_chats,
            plural_message!(
                extended_chats; "the new messages of {many_extended} chat", "the new messages of {many_extended} chats";
                "{many_extended} 个对话中新增的消息"
            ),
        ),
        (
            documents,
            plural_message!(
                documents; "{many_documents} document", "{many_documents} documents"; "{many_documents} 篇文档"
            ),
        ),
    ];
    let parts: Vec<String> = parts.into_iter().filter(|(count, _)| *count > 0).map(|(_, part)| part).collect();
    join_list(&parts)
}

/// Describes what undoing an import moves to Trash.
pub fn undo_description(of: &ImportCreations) -> String {
    let (list, days) = (creations(of), limits::TRASH_KEPT.num_days());
    message!(
        "What this import created is moved to Trash: {list}. You can restore it all together for {days} days. \
        Chats you have continued, messages you have answered, and documents you have changed or use elsewhere are kept.",
        "此导入创建的内容将移到回收站：{list}。{days} 天内可一并恢复。你继续过的对话、回复过的消息，以及修改过或在别处使用的文档会保留。"
    )
}

/// Describes what undoing the rest of an import moves to Trash.
pub fn undo_rest_description() -> String {
    let days = limits::TRASH_KEPT.num_days();
    message!(
        "What the undo kept is moved to Trash, too, with everything you wrote there. Documents that other chats or \
        drafts use are kept. You can restore it all together for {days} days.",
        "撤销时保留的内容及你在其中写下的一切也将移到回收站。其他对话或草稿使用的文档会保留。{days} 天内可一并恢复。"
    )
}

/// Returns the progress of an undo.
pub fn undoing(done: u64, total: u64) -> String {
    let (done, total) = (number(done), number(total));
    message!(
        "Moving to Trash: {done} of {total}. This page refreshes until the undo is finished.",
        "正在移到回收站：{done} / {total}。此页面会自动刷新，直到完成。"
    )
}

/// Returns the progress of a restoring.
pub fn restoring(done: u64, total: u64) -> String {
    let (done, total) = (number(done), number(total));
    message!(
        "Restoring: {done} of {total}. This page refreshes until it is finished.",
        "正在恢复：{done} / {total}。此页面会自动刷新，直到完成。"
    )
}

/// Returns the notice after an undo; `kept` is what stays.
pub fn undone(kept: &ImportCreations) -> String {
    if kept.is_empty() {
        return message!(
            "The import was undone. What it created is in Trash.",
            "已撤销此导入，其创建的内容已移到回收站。"
        );
    }
    let list = creations(kept);
    message!(
        "The import was undone. Kept, because they were continued, changed or are used elsewhere: {list}.",
        "已撤销此导入。因已被继续、修改或在别处使用而保留的内容：{list}。"
    )
}

/// Returns the sentence about an import of which an undo or a restoring that did not finish left a part in Trash.
pub fn partly_in_trash(in_trash: u64, can_undo: bool) -> String {
    let items = items_in_trash(in_trash);
    match can_undo {
        true => message!(
            "Undoing or restoring this import was not finished: {items}. Undo it again to move the rest there, or \
            restore it.",
            "撤销或恢复此导入未完成：{items}。可再次撤销以移走其余内容，或恢复此导入。"
        ),
        false => message!(
            "Undoing or restoring this import was not finished: {items}. You can restore the import.",
            "撤销或恢复此导入未完成：{items}。可恢复此导入。"
        ),
    }
}

/// Returns what of an import is here; none if everything is gone.
fn still_here(present: &ImportCreations) -> Option<String> {
    let list = creations(present);
    (!present.is_empty()).then(|| message!("Still here: {list}.", "仍保留：{list}。"))
}

/// Returns where the creations of an import are of which nothing else is known.
pub fn presence(present: &ImportCreations, in_trash: u64) -> String {
    let here = still_here(present);
    let trashed = (in_trash > 0).then(|| {
        let items = items_in_trash(in_trash);
        message!("{items}.", "{items}。")
    });
    match (here, trashed) {
        (Some(here), Some(trashed)) => message!("{here} {trashed}", "{here}{trashed}"),
        (here, trashed) => here.or(trashed).unwrap_or_default(),
    }
}

/// Returns the number of items that restoring an import brings back.
pub fn items_in_trash(count: u64) -> String {
    let many = number(count);
    plural_message!(count; "{many} item in Trash", "{many} items in Trash"; "回收站中有 {many} 项")
}
