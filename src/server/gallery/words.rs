//! The words of the gallery, in both languages. What samples say is theirs and stays as it is.

use super::Sheet;
use super::composers::Standing;
use crate::ui::locale::{word, words};

words! {
    gallery: "Gallery", "组件陈列";
    lead: "Every part of the interface in every state, from samples. Nothing here does anything.", "以示例展示界面的每个组件及其所有状态，这里的操作不会产生任何效果。";
    colours: "Colours: light and dark", "颜色：浅色与深色";
    contrast: "Contrast", "对比度";
    pair: "Pair", "组合";
    light: "Light", "浅色";
    dark: "Dark", "深色";
    needs: "Needs", "要求";
    type_scale: "Type", "字号";
    spacing: "Spacing", "间距";
    icons: "Icons", "图标";
    buttons: "Buttons", "按钮";
    fields: "Fields", "输入框";
    choices: "Choices", "选项";
    dialog: "Dialog", "对话框";
    menu: "Menu", "菜单";
    notes: "Notes", "提示";
    bars: "Connection", "连接";
    said: "Sentences about a deed", "操作结果";
    waiting: "Loading", "加载";
    nothing: "Empty", "空状态";
    first_run: "First run", "首次使用";
    primary: "Primary", "主要";
    plain: "Plain", "普通";
    bare: "Bare", "无边框";
    danger: "Danger", "危险";
    busy: "Busy", "忙碌";
    off: "Off", "停用";
    sample_text: "A tree keeps every answer, 1234567890.", "每个回答都保存在树中，1234567890。";
    hint: "What it is good for, in one line.", "用一行说明其用途。";
    wrong: "This is not an address.", "这不是有效的地址。";
    chats: "Chats", "对话列表";
    tree: "Tree map", "树状图";
}

/// What a page of the gallery is called.
pub fn sheet(sheet: Sheet) -> &'static str {
    match sheet {
        Sheet::Basics => word("Basics", "基础"),
        Sheet::Parts => word("Parts", "组件"),
        Sheet::Writing => word("Writing", "文字"),
        Sheet::Reasoning => word("Reasoning and waiting", "思考与等待"),
        Sheet::Tools => word("Tools", "工具"),
        Sheet::Failures => word("Failures", "失败"),
        Sheet::Lists => word("Lists", "列表"),
        Sheet::Composer(Standing::Empty) => word("Composer: empty", "输入框：空"),
        Sheet::Composer(Standing::Written) => word("Composer: written", "输入框：已输入"),
        Sheet::Composer(Standing::Answering) => word("Composer: answering", "输入框：正在回答"),
        Sheet::Composer(Standing::Files) => word("Composer: files", "输入框：附件"),
        Sheet::Composer(Standing::Full) => word("Composer: context full", "输入框：上下文已满"),
        Sheet::Composer(Standing::Gone) => word("Composer: model gone", "输入框：模型不可用"),
    }
}
