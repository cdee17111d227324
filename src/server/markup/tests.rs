//! What the server adds, and that it stays within the same bounds as everything else.

use super::{block_markup, colours, formula};
use crate::domain::limits;
use crate::ui::markdown::tests::allowed::read;
use crate::ui::markdown::{ClassName, render};

fn rich(text: &str) -> String {
    let parts = block_markup(text).unwrap_or_default();
    for part in &parts {
        read(part).unwrap_or_else(|why| panic!("{why}\nin {part}"));
    }
    parts.join("\n")
}

/// The text of each class, in order.
fn pieces(language: &str, code: &str) -> Vec<(ClassName, String)> {
    let mut rest = code;
    let mut pieces = Vec::new();
    for run in colours::runs(language, code).unwrap() {
        let (piece, after) = rest.split_at(run.bytes);
        pieces.push((run.class, piece.trim().to_owned()));
        rest = after;
    }
    assert_eq!(rest, "");
    pieces
}

#[test]
fn code_is_cut_into_classes() {
    let rust = pieces("rust", "// why\nfn main(a: &str) -> u8 { println!(\"a {}\\n\", 42); true }\n");
    let class = |text: &str| rust.iter().find(|(_, piece)| piece.contains(text)).map(|(class, _)| *class);
    assert_eq!(class("// why"), Some(ClassName::Comment));
    assert_eq!(class("fn"), Some(ClassName::Keyword));
    assert_eq!(class("main"), Some(ClassName::Function));
    assert_eq!(class("42"), Some(ClassName::Number));
    assert_eq!(class("\"a"), Some(ClassName::String));
    assert_eq!(class("true"), Some(ClassName::Constant));
    let html = pieces("html", "<a href=\"x\">y</a>");
    assert!(html.contains(&(ClassName::Tag, "a".into())) && html.contains(&(ClassName::Attribute, "href".into())));
    assert!(pieces("python", "class A:\n    pass\n").contains(&(ClassName::Type, "A".into())));
    assert!(pieces("diff", "-a\n+b\n").iter().any(|(class, _)| *class == ClassName::Inserted));
}

#[test]
fn languages_are_known_by_the_names_that_models_use() {
    for language in [
        "rust",
        "Rust",
        "rs",
        "python",
        "py",
        "python3",
        "js",
        "javascript",
        "jsx",
        "ts",
        "typescript",
        "tsx",
        "bash",
        "sh",
        "shell",
        "zsh",
        "console",
        "json",
        "jsonc",
        "yaml",
        "yml",
        "toml",
        "html",
        "css",
        "scss",
        "sql",
        "c",
        "cpp",
        "c++",
        "csharp",
        "c#",
        "cs",
        "java",
        "kotlin",
        "swift",
        "go",
        "golang",
        "ruby",
        "php",
        "perl",
        "lua",
        "r",
        "haskell",
        "scala",
        "elixir",
        "dart",
        "zig",
        "dockerfile",
        "diff",
        "patch",
        "makefile",
        "make",
        "nix",
        "xml",
        "svg",
        "markdown",
        "md",
        "latex",
        "graphql",
        "proto",
        "protobuf",
        "powershell",
        "terraform",
        "hcl",
        "vue",
        "svelte",
        "ini",
        "clojure",
        "fsharp",
        "ocaml",
        "julia",
        "nginx",
        "cmake",
        "objc",
    ] {
        assert!(colours::runs(language, "x\n").is_some(), "{language}");
    }
    for language in ["", "text", "plaintext", "txt", "nonsense", "../../etc/passwd", "mermaid"] {
        assert!(colours::runs(language, "x\n").is_none(), "{language}");
    }
}

#[test]
fn long_code_stays_plain() {
    assert!(colours::runs("json", &"1\n".repeat(limits::HIGHLIGHT_BYTES / 2 + 1)).is_none());
    assert!(colours::runs("json", &"1".repeat(limits::HIGHLIGHT_LINE_BYTES + 1)).is_none());
}

#[test]
fn a_text_that_the_browser_draws_as_well_has_no_markup() {
    for text in
        ["", "plain", "`code` and $5", "```\nx\n```", "```nonsense\nx\n```", "$\\bad$", "costs $5-$6", "\\(open"]
    {
        assert_eq!(block_markup(text), None, "{text}");
    }
}

#[test]
fn the_server_draws_as_many_parts_as_the_browser_and_changes_no_text() {
    let text = "# A\n\n```rust\nlet a = \"<b>\";\n```\n\n- b\n  ```py\n  x = 1 # y\n  ```\n\nSo $a<b$.\n";
    let parts = block_markup(text).unwrap();
    let plain = render(text);
    assert_eq!(parts.len(), plain.len());
    for (part, plain) in parts.iter().zip(&plain) {
        let (part, plain) = (read(part).unwrap(), read(plain.markup().as_str()).unwrap());
        assert_eq!(part.text, plain.text);
    }
    assert_eq!(parts[0], plain[0].markup().as_str());
    assert_ne!(parts[1], plain[1].markup().as_str());
    assert_eq!(block_markup(text).as_ref(), Some(&parts));
}

#[test]
fn formulas_become_mathml() {
    insta::assert_snapshot!(rich(
        "$\\frac{a}{b} < c_1^2$ and\n\n$$\\begin{matrix} a & b \\\\ c & d \\end{matrix} \\sqrt[3]{x} \\text{if } x \\ge 0$$\n"
    ));
}

#[test]
fn formulas_that_models_write_are_understood() {
    for source in [
        "E = mc^2",
        "\\int_0^\\infty e^{-x^2}\\,dx = \\frac{\\sqrt{\\pi}}{2}",
        "\\sum_{i=1}^{n} i",
        "\\begin{aligned} a &= b \\\\ &= c \\end{aligned}",
        "\\begin{align*} a &= b \\end{align*}",
        "\\begin{pmatrix} 1 & 0 \\\\ 0 & 1 \\end{pmatrix}",
        "\\begin{cases} 1 & x > 0 \\\\ 0 & \\text{else} \\end{cases}",
        "\\left( \\frac{1}{2} \\right)",
        "\\vec{v} \\cdot \\hat{n}",
        "\\mathbb{R}^n \\to \\mathcal{C}",
        "\\operatorname{argmax}_x f(x)",
        "\\boxed{x}",
        "\\underbrace{a+b}_{c}",
        "\\overline{z}",
        "\\lim_{x \\to 0}",
        "\\nabla \\times \\mathbf{E}",
        "a \\implies b",
        "\\binom{n}{k}",
        "f'(x)",
        "x \\in \\{1, 2\\}",
        "\\mathrm{d}x",
        "\\dots",
        "\\color{red} x",
        "5 \\text{ km/h}",
        "a < b > c & d",
    ] {
        let tree = formula::tree(source, true);
        assert!(tree.is_some() || source.contains("& d"), "{source}");
        rich(&format!("$${source}$$"));
    }
}

#[test]
fn formulas_that_are_wrong_or_want_more_than_to_be_shown_are_text_or_inert() {
    let deep = format!("${}x{}$", "{".repeat(4000), "}".repeat(4000));
    let roots = format!("${}x$", "\\sqrt".repeat(1300));
    let bomb = "$\\def\\a{xxxxxxxxxx}\\def\\b{\\a\\a\\a\\a\\a\\a\\a\\a\\a\\a}\\def\\c{\\b\\b\\b\\b\\b\\b\\b\\b\\b\\b}\\def\\d{\\c\\c\\c\\c\\c\\c\\c\\c\\c\\c}\\d\\d\\d\\d\\d\\d\\d\\d$";
    let endless = "$\\def\\a{\\a\\a}\\a$";
    assert_eq!((block_markup(bomb), block_markup(endless)), (None, None));
    for text in [
        "$\\href{javascript:alert(1)}{x}$",
        "$$\\bad{<img src=x onerror=alert(1)>}$$",
        "$\\text{<img src=x>}$",
        "$\\text{</mtext></math><script>}$",
        "$\\color{red;background:url(//canary.test)}x$",
        "$\\class{x\" onclick=\"y}{z}$",
        "$\\unicode{x}$",
        "$\\frac$",
        "$}{$",
        "$\\begin{x}$",
        "$\\left($",
        "$a^b^c$",
        "$\\url{https://canary.test}$",
        "$\\includegraphics{https://canary.test}$",
        "$\\htmlStyle{x}{y}$",
        bomb,
        endless,
        &deep,
        &roots,
        "$\u{0}\u{1}$",
        "$<!--$",
        "$&lt;$",
        "$]]>$",
        "$\\verb|<b>|$",
    ] {
        let html = rich(text);
        assert!(!html.contains("href") && !html.contains("<script") && !html.contains("<img"), "{html}");
        assert!(html.len() <= 2 * limits::MATHML_BYTES);
    }
}

#[test]
fn a_formula_that_only_nests_does_not_end_the_process() {
    for step in [
        "{",
        "\\sqrt",
        "\\sqrt[3]",
        "\\frac1",
        "\\left(",
        "\\begin{matrix}",
        "\\text{",
        "\\hat",
        "\\bf",
        "\\not",
        "\\v",
        "\\c",
        "\\=",
        "\\'",
        "\\S",
        "{}",
        "~",
        "\\relax",
        "\\limits",
        "x^",
        "x_{",
        "\\mathrm",
        "\\overline",
        "\\binom a",
        "\\color{red}",
        "\\big",
        "'",
        "&",
        "\\\\",
        "\\hline",
        "\\middle|",
        "\\right)",
        "\\substack{",
        "\\phantom",
        "\\mathop",
    ] {
        let source = step.repeat(limits::MATH_BYTES / step.len());
        rich(&format!("${source}$"));
        let closed = format!("{}x{}", step.repeat(500), "}".repeat(if step.ends_with('{') { 500 } else { 0 }));
        rich(&format!("$${closed}$$"));
    }
}
