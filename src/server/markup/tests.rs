//! Tests of the server's markup and its bounds.

use proptest::prelude::*;

use super::{block_markup, formula, highlighting};
use crate::domain::limits;
use crate::ui::markdown::tests::allowed::parse_allowed;
use crate::ui::markdown::{CodeClass, render};

fn rich_markup(text: &str) -> String {
    let parts = block_markup(text).unwrap_or_default();
    for part in &parts {
        parse_allowed(part).unwrap_or_else(|reason| panic!("{reason}\nin {part}"));
    }
    parts.join("\n")
}

/// Returns the class and text of each run, in order.
fn highlighted_pieces(language: &str, code: &str) -> Vec<(CodeClass, String)> {
    let mut rest = code;
    let mut pieces = Vec::new();
    for run in highlighting::highlight(language, code).unwrap() {
        let (piece, after) = rest.split_at(run.bytes);
        pieces.push((run.class, piece.trim().to_owned()));
        rest = after;
    }
    assert_eq!(rest, "");
    pieces
}

#[test]
fn code_is_split_into_classes() {
    let rust = highlighted_pieces("rust", "// why\nfn main(a: &str) -> u8 { println!(\"a {}\\n\", 42); true }\n");
    let class = |text: &str| rust.iter().find(|(_, piece)| piece.contains(text)).map(|(class, _)| *class);
    assert_eq!(class("// why"), Some(CodeClass::Comment));
    assert_eq!(class("fn"), Some(CodeClass::Keyword));
    assert_eq!(class("main"), Some(CodeClass::Function));
    assert_eq!(class("42"), Some(CodeClass::Number));
    assert_eq!(class("\"a"), Some(CodeClass::String));
    assert_eq!(class("true"), Some(CodeClass::Constant));
    assert_eq!(class("println!"), Some(CodeClass::Function));
}

#[test]
fn each_language_is_read_by_its_own_rules() {
    for (language, code, class, piece) in [
        ("rust", "#[derive(Debug)]\nstruct A<'a>(&'a str);", CodeClass::Attribute, "#[derive(Debug)]"),
        ("rust", "fn f<'a>(c: char) { c == 'x' }", CodeClass::String, "'x'"),
        ("rust", "let a = r#\"a \"b\" c\"#;", CodeClass::String, "r#\"a \"b\" c\"#"),
        ("rust", "let a = b\"x\";", CodeClass::String, "b\"x\""),
        ("python", "class A:\n    pass\n", CodeClass::Type, "A"),
        ("python", "@cached\ndef f(): pass", CodeClass::Attribute, "@cached"),
        ("python", "\"\"\"a\nb\"\"\"\nx = 1", CodeClass::String, "\"\"\"a\nb\"\"\""),
        ("python", "x = f\"{y}\" # z", CodeClass::String, "f\"{y}\""),
        ("js", "const a = `x\n${y}`;", CodeClass::String, "`x\n${y}`"),
        ("ts", "interface A { b: string }", CodeClass::Type, "string"),
        ("bash", "echo \"$HOME\" $HOME # x", CodeClass::Variable, "$HOME"),
        ("bash", "echo a#b # c", CodeClass::Comment, "# c"),
        ("json", "{\"a\": [1.5e-3, true]}", CodeClass::Number, "1.5e-3"),
        ("yaml", "a-b: c # d", CodeClass::Attribute, "a-b"),
        ("toml", "[a]\nb = 1", CodeClass::Heading, "[a]"),
        ("css", "a { color: #fff; }", CodeClass::Constant, "#fff"),
        ("sql", "select a from b", CodeClass::Keyword, "select"),
        ("c", "#include <x>\nint f();", CodeClass::Keyword, "#include"),
        ("html", "<!-- a --><a href=\"x\">y</a>", CodeClass::Tag, "a"),
        ("html", "<a href=\"x\">y</a>", CodeClass::Attribute, "href"),
        ("html", "<script>let a = 1;</script>", CodeClass::Keyword, "let"),
        ("html", "a &amp; b", CodeClass::Constant, "&amp;"),
        ("diff", "-a\n+b\n", CodeClass::Inserted, "+b"),
        ("go", "func main() {}", CodeClass::Function, "main"),
        ("lua", "--[[ a\nb ]] local x", CodeClass::Comment, "--[[ a\nb ]]"),
        ("php", "$a = 1;", CodeClass::Variable, "$a"),
    ] {
        let found = highlighted_pieces(language, code);
        assert!(found.contains(&(class, piece.to_owned())), "{language}: {found:?}");
    }
}

proptest! {
    #[test]
    fn every_code_is_highlighted_to_its_end(code in any::<String>(), marks in prop::collection::vec(prop::sample::select(MARKS), 0..30)) {
        for code in [code, marks.concat()] {
            for language in ["rust", "python", "js", "bash", "c", "html", "yaml", "toml", "css", "diff", "sql", "php", "haskell"] {
                highlighted_pieces(language, &code);
                rich_markup(&format!("~~~~~{language}\n{code}\n~~~~~"));
            }
        }
    }
}

const MARKS: &[&str] = &[
    "'",
    "\"",
    "`",
    "\"\"\"",
    "#",
    "#[",
    "]",
    "[",
    "\\",
    "/*",
    "*/",
    "//",
    "--",
    "<!--",
    "<",
    ">",
    "</",
    "=",
    "$",
    "${",
    "}",
    "@",
    "r#",
    "b",
    "é",
    "漢",
    "0x",
    "1.",
    "1e",
    "-",
    "+",
    "\n",
    " ",
    "&",
    ";",
    "<script>",
    "</script>",
    "a(",
    "A",
    "::",
    ":",
    "!",
    "x",
];

#[test]
fn hostile_code_is_scanned_in_one_pass() {
    for mark in ["#[", "'", "\"", "<a ", "<!--", "${", "/*", "&a", "(*", "r#\"", "<script>", "\\"] {
        let line = format!("{}\n", mark.repeat(limits::HIGHLIGHT_LINE_BYTES / mark.len() - 1));
        let code = line.repeat(limits::HIGHLIGHT_BYTES / line.len());
        for language in ["rust", "html", "bash", "ocaml", "python"] {
            highlighted_pieces(language, &code);
        }
    }
}

#[test]
fn languages_are_found_by_names_that_models_use() {
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
        assert!(highlighting::highlight(language, "x\n").is_some(), "{language}");
    }
    for language in ["", "text", "plaintext", "txt", "nonsense", "../../etc/passwd", "mermaid", "markdown"] {
        assert!(highlighting::highlight(language, "x\n").is_none(), "{language}");
    }
}

#[test]
fn long_code_stays_plain() {
    assert!(highlighting::highlight("json", &"1\n".repeat(limits::HIGHLIGHT_BYTES / 2 + 1)).is_none());
    assert!(highlighting::highlight("json", &"1".repeat(limits::HIGHLIGHT_LINE_BYTES + 1)).is_none());
}

#[test]
fn text_that_browser_renders_alike_has_no_markup() {
    for text in
        ["", "plain", "`code` and $5", "```\nx\n```", "```nonsense\nx\n```", "$\\bad$", "costs $5-$6", "\\(open"]
    {
        assert_eq!(block_markup(text), None, "{text}");
    }
}

#[test]
fn server_renders_as_many_parts_as_browser_and_changes_no_text() {
    let text = "# A\n\n```rust\nlet a = \"<b>\";\n```\n\n- b\n  ```py\n  x = 1 # y\n  ```\n\nSo $a<b$.\n";
    let parts = block_markup(text).unwrap();
    let plain = render(text);
    assert_eq!(parts.len(), plain.len());
    for (part, plain) in parts.iter().zip(&plain) {
        let (part, plain) = (parse_allowed(part).unwrap(), parse_allowed(plain.markup().as_str()).unwrap());
        assert_eq!(part.text, plain.text);
    }
    assert_eq!(parts[0], plain[0].markup().as_str());
    assert_ne!(parts[1], plain[1].markup().as_str());
    assert_eq!(block_markup(text).as_ref(), Some(&parts));
}

#[test]
fn formulas_become_mathml() {
    insta::assert_snapshot!(rich_markup(
        "$\\frac{a}{b} < c_1^2$ and\n\n$$\\begin{matrix} a & b \\\\ c & d \\end{matrix} \\sqrt[3]{x} \\text{if } x \\ge 0$$\n"
    ));
}

#[test]
fn formulas_that_models_write_are_rendered() {
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
        let tree = formula::mathml_tree(source, true);
        assert!(tree.is_some() || source.contains("& d"), "{source}");
        rich_markup(&format!("$${source}$$"));
    }
}

#[test]
fn invalid_or_active_formulas_become_text_or_inert() {
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
        let html = rich_markup(text);
        assert!(!html.contains("href") && !html.contains("<script") && !html.contains("<img"), "{html}");
        assert!(html.len() <= 2 * limits::MATHML_BYTES);
    }
}

#[test]
fn deeply_nested_formula_does_not_crash_process() {
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
        rich_markup(&format!("${source}$"));
        let closed = format!("{}x{}", step.repeat(500), "}".repeat(if step.ends_with('{') { 500 } else { 0 }));
        rich_markup(&format!("$${closed}$$"));
    }
}
