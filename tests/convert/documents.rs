//! Text extraction from documents.

use turnleaf::domain::limits;
use turnleaf_convert::{ConversionError, FileKind, sniff};

use crate::sample_files::{bomb, docx, misdeclared_zip, pdf, pdf_stream, pdf_with_pages, pptx, xlsx};
use crate::{converter, text};

fn paragraphs(lines: &[&str]) -> String {
    lines.iter().map(|line| format!("<w:p><w:r><w:t>{line}</w:t></w:r></w:p>")).collect()
}

#[tokio::test]
async fn office_files_are_read() {
    let body = format!(
        "<w:p><w:pPr><w:pStyle w:val=\"Heading1\"/></w:pPr><w:r><w:t>Title</w:t></w:r></w:p>{}",
        paragraphs(&["First &amp; last", "你好😀"])
    );
    let read = text("a.docx", docx(&body)).await.unwrap();
    assert!(read.text.contains("Title") && read.text.contains("First & last\n\n你好😀"), "{read:?}");
    assert_eq!(read.notes, [] as [&str; 0]);
    assert!(text("a.pptx", pptx("On a slide")).await.unwrap().text.contains("On a slide"));
    assert_eq!(text("a.docx", docx("<w:p/>")).await, Err(ConversionError::NoText));
}

#[tokio::test]
async fn sheets_become_tables_of_values() {
    let rows = "<row r=\"1\"><c r=\"A1\" t=\"inlineStr\"><is><t>a|b</t></is></c><c r=\"B1\"><v>1.5</v></c></row>\
                <row r=\"3\"><c r=\"B3\"><f>B1*2</f><v>3</v></c><c r=\"C3\" t=\"b\"><v>1</v></c><c r=\"D3\" t=\"e\"><v>#DIV/0!</v></c></row>";
    let far = "<row r=\"1048576\"><c r=\"A1048576\"><v>7</v></c><c r=\"XFD1048576\"><v>8</v></c></row>";
    let read = text("a.xlsx", xlsx(&[("Sums", rows), ("Empty", ""), ("Far", far)])).await.unwrap();
    let table = "## Sums\n\n| a\\|b | 1.5 |  |  |\n| --- | --- | --- | --- |\n|  | 3 | TRUE | #DIV/0! |";
    assert_eq!(read.text, format!("{table}\n\n## Far\n\n| 7 |\n| --- |"));
    assert_eq!(read.notes, ["Of the sheet “Far” only the first 256 columns were read."]);
}

#[tokio::test]
async fn overlong_sheet_is_truncated_with_note() {
    let words = "x".repeat(30_000);
    let rows: String = (1..=300)
        .map(|row| format!("<row r=\"{row}\"><c r=\"A{row}\" t=\"inlineStr\"><is><t>{words}</t></is></c></row>"))
        .collect();
    let read = text("a.xlsx", xlsx(&[("Long", &rows)])).await.unwrap();
    assert!(read.text.len() <= limits::DOCUMENT_BYTES && read.text.len() > limits::DOCUMENT_BYTES - 100_000);
    assert_eq!(read.notes.len(), 1);
    assert!(read.notes[0].starts_with("The sheet “Long” was cut after 27"), "{:?}", read.notes);
}

#[tokio::test]
async fn pdf_is_read_page_by_page() {
    assert_eq!(text("a.pdf", pdf_with_pages(&["Hello leaves"])).await.unwrap().text, "Hello leaves");
    let read = text("a.pdf", pdf_with_pages(&["One", "", "!", "Four"])).await.unwrap();
    assert_eq!(read.text, "[Page 1]\n\nOne\n\n[Page 4]\n\nFour");
    assert_eq!(read.notes, ["Page 2 without text.", "Page 3 could not be read."]);
    assert_eq!(text("scan.pdf", pdf_with_pages(&["", ""])).await, Err(ConversionError::NoText));
    let many: Vec<String> = (1..=200).map(|page| format!("Line of page {page}")).collect();
    let read = text("long.pdf", pdf_with_pages(&many.iter().map(String::as_str).collect::<Vec<_>>())).await.unwrap();
    assert!(read.text.ends_with("[Page 200]\n\nLine of page 200") && read.notes.is_empty());
}

fn page_of(objects: &[&str]) -> Vec<u8> {
    let begin = ["<< /Type /Catalog /Pages 2 0 R >>", "<< /Type /Pages /Count 1 /Kids [3 0 R] >>"];
    pdf(&begin.iter().chain(objects).map(|object| (*object).to_owned()).collect::<Vec<_>>())
}

#[tokio::test]
async fn hostile_pdfs_are_refused() {
    let whole = pdf_with_pages(&["Hello"]);
    let own_parent = page_of(&["<< /Type /Page /Parent 3 0 R /Contents 4 0 R >>", &pdf_stream("BT ET")]);
    let form = "<< /Type /XObject /Subtype /Form /BBox [0 0 9 9] /Resources << /XObject << /X 5 0 R >> >> /Length 5 >>\nstream\n/X Do\nendstream";
    let looping_form = page_of(&[
        "<< /Type /Page /Parent 2 0 R /MediaBox [0 0 9 9] /Contents 4 0 R /Resources << /XObject << /X 5 0 R >> >> >>",
        &pdf_stream("/X Do"),
        form,
    ]);
    let own_kid =
        pdf(&["<< /Type /Catalog /Pages 2 0 R >>".into(), "<< /Type /Pages /Count 9 /Kids [2 0 R 2 0 R] >>".into()]);
    for (case, bytes) in [
        ("cut", whole[..whole.len() / 2].to_vec()),
        ("head", b"%PDF-1.7\n".to_vec()),
        ("not one", b"%PDF-<html><script>XSS</script>".to_vec()),
        ("every page breaks", pdf_with_pages(&["!", "!"])),
        ("own parent", own_parent),
        ("a form in itself", looping_form),
        ("own kid", own_kid),
        ("deep", pdf(&[format!("{}1{}", "[".repeat(100_000), "]".repeat(100_000))])),
    ] {
        let refused = text("a.pdf", bytes).await.unwrap_err();
        assert!(matches!(refused, ConversionError::Damaged(_) | ConversionError::OutOfBounds), "{case}: {refused:?}");
    }
}

#[tokio::test]
async fn zip_bombs_are_detected_before_unpacking() {
    let bomb = bomb();
    assert!(bomb.len() < 48 << 10, "{}", bomb.len());
    assert_eq!(sniff("a.docx", &bomb), Ok(FileKind::Docx));
    assert_eq!(text("a.docx", bomb).await, Err(ConversionError::Bomb("256 MiB".into())));
    for (name, part) in [("a.docx", "word/document.xml"), ("a.xlsx", "xl/workbook.xml")] {
        let refused = text(name, misdeclared_zip(part, 100_000)).await.unwrap_err();
        assert!(matches!(refused, ConversionError::Damaged(_) | ConversionError::OutOfBounds), "{name}: {refused:?}");
    }
    let whole = docx(&paragraphs(&["Hello"]));
    for end in [whole.len() / 3, whole.len() - 30] {
        assert!(matches!(text("a.docx", whole[..end].to_vec()).await, Err(ConversionError::Damaged(_))));
    }
}

#[tokio::test]
async fn html_is_converted_to_markdown_and_scripts_do_not_run() {
    let html = "<title>Leaf</title><p>Ünder <a href='https://e.com/x'>a tree</a></p><script>XSS</script>";
    let read = text("a.html", html.into()).await.unwrap();
    assert_eq!(read.text, "# Leaf\n\nÜnder [a tree](https://e.com/x)");
    assert_eq!(text("a.html", "<script>XSS</script>".into()).await, Err(ConversionError::NoText));
    let utf_16: Vec<u8> = "\u{feff}<p>好</p>".encode_utf16().flat_map(u16::to_le_bytes).collect();
    assert_eq!(text("a.html", utf_16).await.unwrap().text, "好");
}

#[tokio::test]
async fn deeply_nested_html_is_read() {
    for tags in ["<blockquote>", "<div>", "<ul><li>", "<b>", "<table><tr><td>"] {
        let html = format!("<!-->{}here", tags.repeat(20_000));
        let read = text("a.html", html.into()).await;
        assert!(read.as_ref().is_ok_and(|read| read.text.contains("here")), "{tags}: {read:?}");
    }
    let large = "<br>".repeat(limits::MARKUP_NODES + 1);
    assert_eq!(text("a.html", large.into()).await, Err(ConversionError::OutOfBounds));
}

#[tokio::test]
async fn plain_text_is_unchanged() {
    for (name, written, kind) in [
        ("a.md", "# A\r\n\r\n*b*\r\n", FileKind::Markdown),
        ("a.csv", "a;b\r\n1;2", FileKind::Csv),
        ("a.rs", "fn main() {}\n\n\n\n// \t\n", FileKind::Text),
    ] {
        assert_eq!(sniff(name, written.as_bytes()), Ok(kind));
        assert_eq!(text(name, written.into()).await.unwrap().text, written.replace("\r\n", "\n"));
    }
    let gbk = encoding_rs::GBK.encode("树叶变黄了。我们在树下读书。").0.into_owned();
    let Err(ConversionError::Encoding(choices)) = text("a.txt", gbk.clone()).await else { panic!() };
    assert_eq!(choices[0], "GBK");
    let read = converter().read_text(FileKind::Text, gbk.into(), Some("gb2312")).await.unwrap();
    assert_eq!(read.text, "树叶变黄了。我们在树下读书。");
    assert_eq!(text("a.txt", b"".to_vec()).await, Err(ConversionError::Empty));
    let long = vec![b'a'; limits::DOCUMENT_BYTES + 1];
    assert_eq!(text("a.txt", long).await, Err(ConversionError::TooLong("8 MiB".into())));
    assert!(matches!(
        converter().read_text(FileKind::Png, b"x".to_vec().into(), None).await,
        Err(ConversionError::Unsupported(_))
    ));
}
