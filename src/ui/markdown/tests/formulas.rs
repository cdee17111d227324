//! Recognition of formulas: money, shell and mathematics, side by side.

use crate::ui::markdown::{StreamingMarkdown, render};

/// Returns the markup without the elements around one paragraph.
fn paragraph(text: &str) -> String {
    let parts = render(text);
    assert_eq!(parts.len(), 1, "{text:?}");
    let html = parts[0].markup().as_str();
    html.strip_prefix("<p dir=\"auto\">").and_then(|html| html.strip_suffix("</p>")).unwrap_or(html).to_owned()
}

/// Returns the sources of the formulas in the markup.
fn formulas(text: &str) -> Vec<String> {
    let parts = render(text);
    let html: String = parts.iter().map(|part| part.markup().as_str()).collect();
    let mut found = Vec::new();
    for piece in html.split("<code class=\"md-math").skip(1) {
        let source =
            piece.split_once('>').and_then(|(_, rest)| rest.split_once("</code>")).expect("a closed formula").0;
        found.push(source.replace("&lt;", "<").replace("&gt;", ">").replace("&quot;", "\"").replace("&amp;", "&"));
    }
    found
}

/// Each text with the formulas in it.
const CASES: &[(&str, &[&str])] = &[
    // Money.
    ("It costs $5.", &[]),
    ("It costs $5 or $6.", &[]),
    ("From $7-$8 to $9–$10.", &[]),
    ("Plan A is **$5**/month, plan B is **$10**/month", &[]),
    ("[$5 deal](https://a.test) and [$6 deal](https://b.test)", &[]),
    ("cost $5 and `$c`", &[]),
    ("I have 5$, you have 10$, he has 3$.", &[]),
    ("US$5 and A$6", &[]),
    ("$5 and he paid 10$", &[]),
    ("**Cost: $5** vs **5$**", &[]),
    ("*$5 plan* costs less than *10$*", &[]),
    ("$1,000 (or 900$)", &[]),
    ("$5M to 6M$", &[]),
    ("$5元和10$", &[]),
    ("价格**$5**到**$9**", &[]),
    ("用**$a**和**b$**", &[]),
    ("It costs $5\nand the fee is 3$", &[]),
    ("\\$5 and \\$6", &[]),
    ("$20/hour, $30/day", &[]),
    ("| price |\n|---|\n| $5 |\n| 6$ |", &[]),
    ("- $5\n- 6$", &[]),
    // Shells and programs.
    ("$HOME and $PATH", &[]),
    ("$HOME/bin:$PATH", &[]),
    ("**$HOME** and **$PATH**", &[]),
    ("\"$a\" \"$b\"", &[]),
    ("${a}${b}", &[]),
    ("$1, $2 and $3", &[]),
    ("f($a,$b)", &[]),
    ("$a = $b + $c", &[]),
    ("$a=$b", &[]),
    ("$HOME is set to 5$", &[]),
    ("`$x$`", &[]),
    ("```\n$x$\n```", &[]),
    ("<https://a.test/$x$>", &[]),
    ("^foo$|^bar$", &[]),
    ("$(pwd)/$USER", &[]),
    ("$ ls\n$ cd", &[]),
    ("- $a^2\n  ***\n  b$", &[]),
    // Mathematics.
    ("$x$", &["x"]),
    ("Let $x$ and $y$ be", &["x", "y"]),
    ("the $n$th and the $(k+1)$st", &["n", "(k+1)"]),
    ("当$x$时", &["x"]),
    ("$k$-means, ($m$).", &["k", "m"]),
    ("$a_1 < b_2$", &["a_1 < b_2"]),
    ("$a*b$ and $c*d$", &["a*b", "c*d"]),
    ("$x^*$ and $y^*$", &["x^*", "y^*"]),
    ("$\\mathcal{L}_{a}$ and $\\mathcal{L}_{b}$", &["\\mathcal{L}_{a}", "\\mathcal{L}_{b}"]),
    ("**$x$** and *$y$*", &["x", "y"]),
    ("H$_2$O at 5$^\\circ$C", &["_2", "^\\circ"]),
    ("costs $5, where $x$ is", &["x"]),
    ("$2\\pi r$", &["2\\pi r"]),
    ("$x\n\\cdot y$", &["x\n\\cdot y"]),
    ("$\\{a, b\\}$", &["\\{a, b\\}"]),
    ("$a \\$ b$", &["a \\$ b"]),
    ("$f[x]$ and $[a, b](c)$", &["f[x]"]),
    ("$x < y$ and $a<b>c$", &["x < y", "a<b>c"]),
    ("| a |\n|---|\n| $\\|x\\|$ |", &["|x|"]),
    ("$\\|x\\|$", &["\\|x\\|"]),
    ("$\\|x\\|$\n--|--|--", &["\\|x\\|"]),
    ("[see $x_1$](https://a.test)", &["x_1"]),
    ("$$x^2$$", &["x^2"]),
    ("$$\na_1 * b_1 \\\\\n*c*\n$$", &["\na_1 * b_1 \\\\\n*c*\n"]),
    ("> $$\n> x\n> $$", &["\nx\n"]),
    ("$$\\text{if $x$}$$", &["\\text{if $x$}"]),
    ("\\(c_1 * d_1\\) and \\[ e \\]", &["c_1 * d_1", " e "]),
    ("\\(\\mathcal{L}_{a}\\) and \\(\\mathcal{L}_{b}\\)", &["\\mathcal{L}_{a}", "\\mathcal{L}_{b}"]),
    ("\\(a `\\)`", &[]),
    ("\\\\(no\\\\)", &[]),
    ("\\\\[no\\\\]", &[]),
];

#[test]
fn formulas_are_told_from_money_and_shell() {
    for (text, expected) in CASES {
        assert_eq!(formulas(text), *expected, "{text:?}");
    }
}

#[test]
fn emphasis_links_and_code_win_over_dollars() {
    for (text, expected) in [
        (
            "Plan A is **$5**/month, plan B is **$10**/month",
            "Plan A is <strong>$5</strong>/month, plan B is <strong>$10</strong>/month",
        ),
        ("cost $5 and `$c`", "cost $5 and <code dir=\"ltr\">$c</code>"),
        ("**Cost: $5** vs **5$**", "<strong>Cost: $5</strong> vs <strong>5$</strong>"),
        ("**$HOME** and **$PATH**", "<strong>$HOME</strong> and <strong>$PATH</strong>"),
        ("$5 is *not* 6$", "$5 is <em>not</em> 6$"),
    ] {
        assert_eq!(paragraph(text), expected, "{text:?}");
    }
    let links = paragraph("[$5 deal](https://a.test/) and [$6 deal](https://b.test/)");
    assert!(links.contains(">$5 deal</a> and <a") && links.contains(">$6 deal</a>"), "{links}");
}

#[test]
fn text_around_formulas_is_as_written() {
    for (text, expected) in [
        ("a $x$ b", "a <code class=\"md-math\" dir=\"ltr\">x</code> b"),
        ("$x$$", "$x$$"),
        ("&amp; $x$ &lt;", "&amp; <code class=\"md-math\" dir=\"ltr\">x</code> &lt;"),
        (
            "*a* $b_1$ *c* $d_1$",
            "<em>a</em> <code class=\"md-math\" dir=\"ltr\">b_1</code> <em>c</em> <code class=\"md-math\" dir=\"ltr\">d_1</code>",
        ),
        ("x \\(y\\) z", "x <code class=\"md-math\" dir=\"ltr\">y</code> z"),
    ] {
        assert_eq!(paragraph(text), expected, "{text:?}");
    }
}

#[test]
fn formulas_in_pieces_are_those_of_whole_text() {
    for (text, _) in CASES {
        let mut streaming = StreamingMarkdown::default();
        for c in text.chars() {
            streaming.push(c.encode_utf8(&mut [0; 4]));
            assert_eq!(streaming.parts(), render(streaming.text()), "{:?}", streaming.text());
        }
        streaming.finish();
        assert_eq!(streaming.parts(), render(text), "{text:?}");
    }
}
