//! Messages of the usage page, in both languages.

use chrono::NaiveDate;

use crate::ui::locale::{define_messages, message, plural_message};
use crate::ui::messages::amounts::number;

define_messages! {
    from: "From", "起始日期";
    to: "To", "截止日期";
    group: "Group by", "分组方式";
    show: "Show", "显示";
    by_day: "Day", "日期";
    by_model: "Model", "模型";
    by_provider: "Provider", "服务商";
    by_token: "API token", "API 令牌";
    by_chat: "Chat", "对话";
    last_7: "7 days", "近 7 天";
    last_30: "30 days", "近 30 天";
    this_month: "This month", "本月";
    this_year: "This year", "今年";
    nothing: "No usage in this period.", "这段时间没有用量。";
    table: "Usage details", "用量明细";
    calls: "Requests", "请求次数";
    input: "Input tokens", "输入 token";
    cached: "cached", "其中缓存";
    output: "Output tokens", "输出 token";
    reasoning: "reasoning", "其中思考";
    cost: "Cost (US$)", "费用（美元）";
    total: "Total", "合计";
    deleted: "Deleted chats", "已删除的对话";
    deleted_token: "Deleted tokens", "已删除的令牌";
    without_token: "Without a token", "未使用令牌";
    csv: "Download as CSV", "下载 CSV";
    estimated: "≈ marks estimates from token counts and list prices; your provider's bill may differ. — means \
        unknown; models on your own machine have no price.", "≈ \
        表示估算值：由 token 数和价格表计算得出，可能与服务商的账单不同。— 表示未知；在你自己机器上运行的模型没有价格。";
    usage_hint: "Includes every request to a provider, even for stopped, failed and permanently deleted replies. Days \
        are in UTC.", "对服务商的每次请求都计入，包括已停止、失败和永久删除的回复。日期按 UTC 计算。";
}

pub fn caption(from: NaiveDate, to: NaiveDate) -> String {
    if from == to { from.to_string() } else { message!("{from} to {to}", "{from} 至 {to}") }
}

/// Returns the number of unknown costs, shown next to a sum.
pub fn unknown_costs(unknown: u64) -> String {
    let unknown = number(unknown);
    message!(" + {unknown} unknown", " + {unknown} 项未知")
}

pub fn more_rows(hidden: usize) -> String {
    let many = number(hidden as u64);
    plural_message!(hidden; "1 more row is in the CSV.", "{many} more rows are in the CSV."; "还有 {many} 行在 CSV 中。")
}
