//! Emphasis in text without spaces: cases of the CJK-friendly amendment of CommonMark, and what it must not change.

use crate::ui::markdown::render;

fn html(text: &str) -> String {
    render(text).iter().map(|part| part.markup().as_str().replace("<p dir=\"auto\">", "").replace("</p>", "")).collect()
}

#[test]
fn emphasis_beside_cjk_text_is_drawn() {
    for (text, expected) in [
        ("**“引号”**后面", "<strong>“引号”</strong>后面"),
        ("价格**$5**到**$9**", "价格<strong>$5</strong>到<strong>$9</strong>"),
        (
            "**このアスタリスクは強調記号として認識されず、そのまま表示されます。**この文のせいで。",
            "<strong>このアスタリスクは強調記号として認識されず、そのまま表示されます。</strong>この文のせいで。",
        ),
        (
            "**该星号不会被识别，而是直接显示。**这是因为它没有被识别为强调符号。",
            "<strong>该星号不会被识别，而是直接显示。</strong>这是因为它没有被识别为强调符号。",
        ),
        (
            "**이 별표는 강조 표시로 인식되지 않습니다(이 괄호 때문에).**이 문장",
            "<strong>이 별표는 강조 표시로 인식되지 않습니다(이 괄호 때문에).</strong>이 문장",
        ),
        ("**`npm publish`**를 실행", "<strong><code dir=\"ltr\">npm publish</code></strong>를 실행"),
        ("これは**「重要」**です", "これは<strong>「重要」</strong>です"),
        ("これは*（重要）*です", "これは<em>（重要）</em>です"),
        ("太郎は**\"こんにちわ\"**といった", "太郎は<strong>&quot;こんにちわ&quot;</strong>といった"),
        ("𠮷**“a”**𠮷", "𠮷<strong>“a”</strong>𠮷"),
        ("**“一”**和**“二”**与**三**", "<strong>“一”</strong>和<strong>“二”</strong>与<strong>三</strong>"),
        ("***“一”***后", "<em><strong>“一”</strong></em>后"),
        ("- **要点：**说明", "<ul><li dir=\"auto\"><strong>要点：</strong>说明</li></ul>"),
        ("中文**加粗**。", "中文<strong>加粗</strong>。"),
        ("~~“旧”~~新~~（价）~~", "<del>“旧”</del>新<del>（价）</del>"),
        // One character between two runs.
        ("**价格**：**$5**起", "<strong>价格</strong>：<strong>$5</strong>起"),
        ("**文件**：**`a.txt`**", "<strong>文件</strong>：<strong><code dir=\"ltr\">a.txt</code></strong>"),
        ("我**不**“同意”", "我<strong>不</strong>“同意”"),
        ("“好”**很**多", "“好”<strong>很</strong>多"),
        ("**甲**乙**“丙”**丁", "<strong>甲</strong>乙<strong>“丙”</strong>丁"),
        ("**未闭合\n\n是**“a”**字", "**未闭合是<strong>“a”</strong>字"),
    ] {
        assert_eq!(html(text), expected, "{text:?}");
    }
    let link = html("**[链接](https://a.test/)**后面");
    assert!(link.starts_with("<strong><a ") && link.ends_with("链接</a></strong>后面"), "{link}");
}

#[test]
fn other_text_reads_as_before() {
    for (text, expected) in [
        ("**\"quote\"**after", "**&quot;quote&quot;**after"),
        ("2 * 3 * 4", "2 * 3 * 4"),
        ("__“引号”__后面", "__“引号”__后面"),
        ("`**“引号”**后面`", "<code dir=\"ltr\">**“引号”**后面</code>"),
        ("\\*\\*“引号”**后面", "**“引号”**后面"),
        ("**😀**after", "**😀**after"),
    ] {
        assert_eq!(html(text), expected, "{text:?}");
    }
    let address = html("<https://a.test/字**“x”**字>");
    assert!(address.contains(">https://a.test/字**“x”**字</a>"), "{address}");
}
