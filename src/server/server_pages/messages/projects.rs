//! Messages of the pages of projects, in both languages.

use crate::domain::ProjectColor;
use crate::ui::locale::{define_messages, localized_word, message, plural_message};
use crate::ui::messages::amounts::number;

define_messages! {
    lead: "A project groups chats. New chats in it begin with its instructions and its model.",
        "项目用来归类对话。在项目中新建的对话以项目的指令和模型开始。";
    nothing: "No projects yet.", "还没有项目。";
    list: "All projects", "全部项目";
    new: "New project", "新建项目";
    create: "Create project", "创建项目";
    created: "Project created.", "已创建项目。";
    deleted: "Project deleted.", "已删除项目。";
    name: "Name", "名称";
    color: "Color", "颜色";
    instructions: "Instructions", "指令";
    instructions_hint: "The system prompt of new chats in this project. Existing chats keep the instructions they \
        started with. Leave empty to use your instructions for new chats.",
        "此项目中新对话的系统提示词。已有的对话沿用其开始时的指令。留空则使用你为新对话设置的指令。";
    model: "Model of new chats", "新对话的模型";
    usual_model: "Default model", "默认模型";
    model_gone: "no longer available", "已不可用";
    settings: "Project settings", "项目设置";
    new_chat: "New chat in this project", "在此项目中新建对话";
    chats: "Chats", "对话";
    no_chats: "No chats in this project.", "此项目中没有对话。";
    select_chats: "Select and move chats", "选择并移动对话";
    search: "Search in this project", "在此项目中搜索";
    delete: "Delete project", "删除项目";
    delete_hint: "You choose whether its chats stay.", "你可以选择是否保留其中的对话。";
    keep_chats: "Keep the chats, without a project", "保留对话，移出项目";
    trash_chats: "Move its chats to Trash, archived ones included", "将其中的对话移到回收站，包括已归档的";
    what_happens: "What happens to its chats?", "其中的对话如何处理？";
    deletion_hint: "The project and its instructions are deleted at once. This cannot be undone.",
        "项目及其指令会立即删除，无法撤销。";
    project: "Project", "项目";
    none: "No project", "不属于任何项目";
    move_to: "Move to", "移动到";
    move_hint: "A chat that is moved keeps its instructions.", "移动的对话沿用原来的指令。";
    do_move: "Move", "移动";
    changed: "The project's instructions differ from this chat's. You can use them in new branches.",
        "项目的指令与此对话的不同，可将其用于新分支。";
    use_in_new_branches: "Use in new branches", "用于新分支";
    open: "Open the project", "打开项目";
    manage: "Manage projects", "管理项目";
}

/// Returns the name of a color.
pub fn color_name(color: ProjectColor) -> &'static str {
    match color {
        ProjectColor::Gray => localized_word("Gray", "灰色"),
        ProjectColor::Red => localized_word("Red", "红色"),
        ProjectColor::Orange => localized_word("Orange", "橙色"),
        ProjectColor::Yellow => localized_word("Yellow", "黄色"),
        ProjectColor::Green => localized_word("Green", "绿色"),
        ProjectColor::Teal => localized_word("Teal", "青色"),
        ProjectColor::Blue => localized_word("Blue", "蓝色"),
        ProjectColor::Purple => localized_word("Purple", "紫色"),
    }
}

pub fn chat_count(count: u64) -> String {
    let many = number(count);
    plural_message!(count; "1 chat", "{many} chats"; "{many} 个对话")
}

pub fn archived_count(count: u64) -> String {
    let many = number(count);
    plural_message!(count; "1 archived chat", "{many} archived chats"; "{many} 个已归档的对话")
}

/// Returns the heading of the question before a deletion.
pub fn delete_question(name: &str) -> String {
    message!("Delete the project “{name}”?", "删除项目“{name}”？")
}

/// Returns the scope of a search.
pub fn search_scope(name: &str) -> String {
    message!("Only in project “{name}”", "仅在项目“{name}”中")
}

/// Returns the scope of the list of chats.
pub fn list_scope(name: &str) -> String {
    message!("Chats of the project “{name}”", "项目“{name}”中的对话")
}
