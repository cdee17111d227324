//! Sample files, valid and invalid, built from their parts.

use std::io::Cursor;

use image::codecs::gif::GifEncoder;
use image::{DynamicImage, Frame, ImageFormat, Rgb, RgbImage, Rgba, RgbaImage};

/// Computes the CRC-32 of ZIP and PNG.
fn crc(bytes: &[u8]) -> u32 {
    !bytes.iter().fold(u32::MAX, |crc, byte| {
        (0..8).fold(crc ^ u32::from(*byte), |crc, _| (crc >> 1) ^ (0xedb8_8320 & 0_u32.wrapping_sub(crc & 1)))
    })
}

struct ZipMember<'a> {
    name: &'a str,
    /// 0 is stored, 8 is deflated.
    method: u16,
    bytes: Vec<u8>,
    unpacked: u32,
    crc: u32,
}

fn local_header(part: &ZipMember<'_>) -> Vec<u8> {
    let mut bytes = b"PK\x03\x04\x14\0\0\0".to_vec();
    bytes.extend(part.method.to_le_bytes());
    bytes.extend([0; 4]);
    bytes.extend([part.crc, part.bytes.len() as u32, part.unpacked].map(u32::to_le_bytes).concat());
    bytes.extend((part.name.len() as u16).to_le_bytes());
    bytes.extend([0; 2]);
    bytes.extend(part.name.bytes());
    bytes.extend(&part.bytes);
    bytes
}

fn directory_entry(part: &ZipMember<'_>, name: &str, at: u32) -> Vec<u8> {
    let mut bytes = b"PK\x01\x02\x14\0\x14\0\0\0".to_vec();
    bytes.extend(part.method.to_le_bytes());
    bytes.extend([0; 4]);
    bytes.extend([part.crc, part.bytes.len() as u32, part.unpacked].map(u32::to_le_bytes).concat());
    bytes.extend((name.len() as u16).to_le_bytes());
    bytes.extend([0; 12]);
    bytes.extend(at.to_le_bytes());
    bytes.extend(name.bytes());
    bytes
}

fn finish_zip(mut bytes: Vec<u8>, list: &[Vec<u8>]) -> Vec<u8> {
    let start = bytes.len() as u32;
    bytes.extend(list.concat());
    let length = bytes.len() as u32 - start;
    bytes.extend(b"PK\x05\x06\0\0\0\0");
    bytes.extend([(list.len() as u16).to_le_bytes(); 2].concat());
    bytes.extend([length, start].map(u32::to_le_bytes).concat());
    bytes.extend([0; 2]);
    bytes
}

pub fn zip(parts: &[(&str, &str)]) -> Vec<u8> {
    let (mut bytes, mut list) = (Vec::new(), Vec::new());
    for (name, text) in parts {
        let text = text.as_bytes().to_vec();
        let part = ZipMember { name, method: 0, unpacked: text.len() as u32, crc: crc(&text), bytes: text };
        list.push(directory_entry(&part, name, bytes.len() as u32));
        bytes.extend(local_header(&part));
    }
    finish_zip(bytes, &list)
}

/// Builds a deflate stream of zeros, about 158 times smaller: one zero, and then runs that each repeat the previous
/// 258 bytes.
fn deflated_zeros(runs: usize) -> Vec<u8> {
    let (mut bytes, mut bits) = (Vec::new(), 0);
    let mut push = |bit: bool| {
        if bits % 8 == 0 {
            bytes.push(0);
        }
        *bytes.last_mut().unwrap() |= u8::from(bit) << (bits % 8);
        bits += 1;
    };
    // One final block with fixed codes: the literal 0; length 258 and distance 1 for each run; the end.
    let codes = [("110", 1), ("00110000", 1), ("1100010100000", runs), ("0000000", 1)];
    for (code, times) in codes {
        for _ in 0..times {
            code.bytes().for_each(|bit| push(bit == b'1'));
        }
    }
    bytes
}

const TYPES: (&str, &str) = (
    "[Content_Types].xml",
    "<?xml version=\"1.0\"?><Types xmlns=\"http://schemas.openxmlformats.org/package/2006/content-types\"/>",
);

/// Builds a ZIP bomb: 40 KiB that unpack to 1 GiB, with hundreds of entries that share the same bytes.
pub fn bomb() -> Vec<u8> {
    let runs = 6_500;
    let kernel = ZipMember {
        name: "word/document.xml",
        method: 8,
        bytes: deflated_zeros(runs),
        unpacked: 258 * runs as u32 + 1,
        crc: 0,
    };
    let types = ZipMember { name: TYPES.0, method: 0, bytes: Vec::new(), unpacked: 0, crc: 0 };
    let mut bytes = local_header(&types);
    let mut list = vec![directory_entry(&types, TYPES.0, 0)];
    let at = bytes.len() as u32;
    bytes.extend(local_header(&kernel));
    let copies = (1 << 30) / kernel.unpacked + 1;
    list.extend((0..copies).map(|copy| directory_entry(&kernel, &format!("w{copy}"), at)));
    list.push(directory_entry(&kernel, "word/document.xml", at));
    finish_zip(bytes, &list)
}

/// Builds a document with one part whose declared size is too small.
pub fn misdeclared_zip(folder: &str, runs: usize) -> Vec<u8> {
    let part = ZipMember { name: folder, method: 8, bytes: deflated_zeros(runs), unpacked: 1_000, crc: 0 };
    let types = ZipMember {
        name: TYPES.0,
        method: 0,
        bytes: TYPES.1.into(),
        unpacked: TYPES.1.len() as u32,
        crc: crc(TYPES.1.as_bytes()),
    };
    let mut bytes = local_header(&types);
    let list = vec![directory_entry(&types, TYPES.0, 0), directory_entry(&part, folder, bytes.len() as u32)];
    bytes.extend(local_header(&part));
    finish_zip(bytes, &list)
}

const OFFICE: &str = "http://schemas.openxmlformats.org/officeDocument/2006/relationships";
const RELATIONS: &str = "http://schemas.openxmlformats.org/package/2006/relationships";

fn relations(targets: &[(&str, &str)]) -> String {
    let one = |(at, (kind, target)): (usize, &(&str, &str))| {
        format!("<Relationship Id=\"rId{}\" Type=\"{OFFICE}/{kind}\" Target=\"{target}\"/>", at + 1)
    };
    let all: String = targets.iter().enumerate().map(one).collect();
    format!("<?xml version=\"1.0\"?><Relationships xmlns=\"{RELATIONS}\">{all}</Relationships>")
}

/// Builds a DOCX; `body` is the content of `w:body`.
pub fn docx(body: &str) -> Vec<u8> {
    let space = "http://schemas.openxmlformats.org/wordprocessingml/2006/main";
    let document =
        format!("<?xml version=\"1.0\"?><w:document xmlns:w=\"{space}\"><w:body>{body}</w:body></w:document>");
    zip(&[
        TYPES,
        ("_rels/.rels", &relations(&[("officeDocument", "word/document.xml")])),
        ("word/document.xml", &document),
    ])
}

pub fn pptx(words: &str) -> Vec<u8> {
    let (main, drawing) = (
        "http://schemas.openxmlformats.org/presentationml/2006/main",
        "http://schemas.openxmlformats.org/drawingml/2006/main",
    );
    let deck = format!(
        "<?xml version=\"1.0\"?><p:presentation xmlns:p=\"{main}\" xmlns:r=\"{OFFICE}\"><p:sldIdLst>\
         <p:sldId id=\"256\" r:id=\"rId1\"/></p:sldIdLst></p:presentation>"
    );
    let slide = format!(
        "<?xml version=\"1.0\"?><p:sld xmlns:p=\"{main}\" xmlns:a=\"{drawing}\"><p:cSld><p:spTree><p:sp><p:txBody><a:p><a:r>\
         <a:t>{words}</a:t></a:r></a:p></p:txBody></p:sp></p:spTree></p:cSld></p:sld>"
    );
    zip(&[
        TYPES,
        ("_rels/.rels", &relations(&[("officeDocument", "ppt/presentation.xml")])),
        ("ppt/presentation.xml", &deck),
        ("ppt/_rels/presentation.xml.rels", &relations(&[("slide", "slides/slide1.xml")])),
        ("ppt/slides/slide1.xml", &slide),
    ])
}

/// Builds an XLSX from the names of its sheets and the content of each `sheetData`.
pub fn xlsx(sheets: &[(&str, &str)]) -> Vec<u8> {
    let space = "http://schemas.openxmlformats.org/spreadsheetml/2006/main";
    let named = |(at, (name, _)): (usize, &(&str, &str))| {
        format!("<sheet name=\"{name}\" sheetId=\"{0}\" r:id=\"rId{0}\"/>", at + 1)
    };
    let list: String = sheets.iter().enumerate().map(named).collect();
    let book = format!(
        "<?xml version=\"1.0\"?><workbook xmlns=\"{space}\" xmlns:r=\"{OFFICE}\"><sheets>{list}</sheets></workbook>"
    );
    let files: Vec<String> = (1..=sheets.len()).map(|at| format!("worksheets/sheet{at}.xml")).collect();
    let targets: Vec<(&str, &str)> = files.iter().map(|file| ("worksheet", file.as_str())).collect();
    let places: Vec<String> = files.iter().map(|file| format!("xl/{file}")).collect();
    let bodies: Vec<String> = sheets
        .iter()
        .map(|(_, rows)| {
            format!("<?xml version=\"1.0\"?><worksheet xmlns=\"{space}\"><sheetData>{rows}</sheetData></worksheet>")
        })
        .collect();
    let (start, inside) = (relations(&[("officeDocument", "xl/workbook.xml")]), relations(&targets));
    let mut parts = vec![TYPES, ("_rels/.rels", &*start), ("xl/workbook.xml", &*book)];
    parts.push(("xl/_rels/workbook.xml.rels", &inside));
    parts.extend(places.iter().zip(&bodies).map(|(place, body)| (place.as_str(), body.as_str())));
    zip(&parts)
}

/// Builds a PDF from its objects, numbered from 1; the first is the catalogue.
pub fn pdf(objects: &[String]) -> Vec<u8> {
    let mut bytes = b"%PDF-1.4\n".to_vec();
    let mut places = Vec::new();
    for (at, object) in objects.iter().enumerate() {
        places.push(bytes.len());
        bytes.extend(format!("{} 0 obj\n{object}\nendobj\n", at + 1).bytes());
    }
    let (start, count) = (bytes.len(), objects.len() + 1);
    bytes.extend(format!("xref\n0 {count}\n0000000000 65535 f \n").bytes());
    for place in places {
        bytes.extend(format!("{place:010} 00000 n \n").bytes());
    }
    bytes.extend(format!("trailer\n<< /Size {count} /Root 1 0 R >>\nstartxref\n{start}\n%%EOF\n").bytes());
    bytes
}

pub fn pdf_stream(content: &str) -> String {
    format!("<< /Length {} >>\nstream\n{content}\nendstream", content.len())
}

/// Builds a PDF with one line per page; a page whose line is `!` has a font that the reader does not know.
pub fn pdf_with_pages(lines: &[&str]) -> Vec<u8> {
    let count = lines.len();
    let kids: String = (0..count).map(|page| format!("{} 0 R ", 5 + 2 * page)).collect();
    let font = |encoding: &str| format!("<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica{encoding} >>");
    let mut objects = vec![
        "<< /Type /Catalog /Pages 2 0 R >>".to_owned(),
        format!("<< /Type /Pages /Count {count} /Kids [{kids}] /MediaBox [0 0 612 792] >>"),
        font(" /Encoding /WinAnsiEncoding"),
        font(" /Encoding /NoSuchEncoding"),
    ];
    for (page, line) in lines.iter().enumerate() {
        let font = if *line == "!" { 4 } else { 3 };
        let content = 6 + 2 * page;
        objects.push(format!(
            "<< /Type /Page /Parent 2 0 R /Contents {content} 0 R /Resources << /Font << /F1 {font} 0 R >> >> >>"
        ));
        let shown = if line.is_empty() { String::new() } else { format!("BT /F1 12 Tf 72 700 Td ({line}) Tj ET") };
        objects.push(pdf_stream(&shown));
    }
    pdf(&objects)
}

fn chunk(name: &[u8; 4], body: &[u8]) -> Vec<u8> {
    let named = [name.as_slice(), body].concat();
    [&(body.len() as u32).to_be_bytes()[..], &named, &crc(&named).to_be_bytes()].concat()
}

/// Builds a PNG that declares this size, with almost no data.
pub fn png_head(width: u32, height: u32, bits: u8) -> Vec<u8> {
    let head = [&width.to_be_bytes()[..], &height.to_be_bytes(), &[bits, 6, 0, 0, 0]].concat();
    let zeros = [b"\x78\x01".as_slice(), &deflated_zeros(100)].concat();
    [b"\x89PNG\r\n\x1a\n".to_vec(), chunk(b"IHDR", &head), chunk(b"IDAT", &zeros), chunk(b"IEND", b"")].concat()
}

/// Builds a PNG with a text chunk that no pixel shows.
pub fn png_with_words(words: &str) -> Vec<u8> {
    let plain = encode_image(&two_tone_image(40, 20), ImageFormat::Png);
    let text = chunk(b"tEXt", format!("Comment\0{words}").as_bytes());
    [&plain[..33], &text, &plain[33..], words.as_bytes()].concat()
}

/// Builds an image whose left half is red and whose right half is blue.
pub fn two_tone_image(width: u32, height: u32) -> DynamicImage {
    DynamicImage::ImageRgb8(RgbImage::from_fn(width, height, |x, _| {
        if x < width / 2 { Rgb([220, 0, 0]) } else { Rgb([0, 0, 220]) }
    }))
}

pub fn encode_image(image: &DynamicImage, format: ImageFormat) -> Vec<u8> {
    let mut bytes = Cursor::new(Vec::new());
    image.write_to(&mut bytes, format).unwrap();
    bytes.into_inner()
}

/// Builds a photo as a phone stores it: rotated (orientation 6), with GPS coordinates, and with trailing data.
pub fn photo(width: u32, height: u32) -> Vec<u8> {
    let plain = encode_image(&two_tone_image(width, height), ImageFormat::Jpeg);
    // Big-endian TIFF: the orientation and a pointer to the GPS data, whose latitude is "N" and three fractions.
    let mut exif = b"Exif\0\0MM\0\x2a\0\0\0\x08".to_vec();
    exif.extend(b"\0\x02\x01\x12\0\x03\0\0\0\x01\0\x06\0\0\x88\x25\0\x04\0\0\0\x01\0\0\0\x26\0\0\0\0");
    exif.extend(b"\0\x02\0\x01\0\x02\0\0\0\x02N\0\0\0\0\x02\0\x05\0\0\0\x03\0\0\0\x44\0\0\0\0");
    exif.extend([52_u32, 1, 31, 1, 0x4750_5321, 1].map(u32::to_be_bytes).concat());
    let length = (exif.len() as u16 + 2).to_be_bytes();
    [&plain[..2], b"\xff\xe1", &length, &exif, &plain[2..], b"<script>XSS</script>"].concat()
}

/// Builds a GIF whose frames have one colour each.
pub fn gif(frames: usize, side: u32) -> Vec<u8> {
    let mut bytes = Vec::new();
    let mut encoder = GifEncoder::new_with_speed(&mut bytes, 30);
    for frame in 0..frames {
        let colour = Rgba([(frame * 40) as u8, 90, 0, 255]);
        encoder.encode_frame(Frame::new(RgbaImage::from_pixel(side, side, colour))).unwrap();
    }
    drop(encoder);
    bytes
}
