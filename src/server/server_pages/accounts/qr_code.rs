//! QR codes as SVG drawings.

use std::fmt::Write;

use leptos::prelude::*;
use qrcodegen::{QrCode, QrCodeEcc};

use crate::ui::erased::view;

/// The modules around a code that have to stay empty (ISO/IEC 18004).
const QUIET_ZONE: i32 = 4;

/// Renders a text as a QR code that is named `label`; nothing if the text is too long for one. The code is dark on white
/// in every theme, because not every camera reads the opposite.
pub fn qr_code(text: &str, label: &'static str) -> Option<AnyView> {
    let code = QrCode::encode_text(text, QrCodeEcc::Medium).ok()?;
    let side = code.size() + 2 * QUIET_ZONE;
    let view_box = format!("0 0 {side} {side}");
    Some(view! {
        <svg
            width="208"
            height="208"
            viewBox=view_box
            role="img"
            aria-label=label
            shape-rendering="crispEdges"
            class="qr-code"
        >
            <rect width="100%" height="100%" fill="#fff"/>
            <path d=dark_modules(&code) fill="#000"/>
        </svg>
    })
}

/// Returns the path of the dark modules, a rectangle for each run of them in a row.
fn dark_modules(code: &QrCode) -> String {
    let mut path = String::new();
    for y in 0..code.size() {
        let mut x = 0;
        while x < code.size() {
            let begin = x;
            while code.get_module(x, y) {
                x += 1;
            }
            if x > begin {
                let (left, top, width) = (begin + QUIET_ZONE, y + QUIET_ZONE, x - begin);
                let _ = write!(path, "M{left} {top}h{width}v1h-{width}z");
            }
            x += 1;
        }
    }
    path
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the modules that a path covers.
    fn covered(path: &str, side: usize) -> Vec<Vec<bool>> {
        let mut modules = vec![vec![false; side]; side];
        for run in path.split('M').skip(1) {
            let numbers: Vec<usize> =
                run.split(|c: char| !c.is_ascii_digit()).filter_map(|number| number.parse().ok()).collect();
            let (left, top, width) = (numbers[0], numbers[1], numbers[2]);
            modules[top][left..left + width].fill(true);
        }
        modules
    }

    #[test]
    fn drawing_covers_exactly_dark_modules() {
        let code = QrCode::encode_text("otpauth://totp/Turnleaf:Ann?secret=ABC", QrCodeEcc::Medium).unwrap();
        let side = (code.size() + 2 * QUIET_ZONE) as usize;
        for (y, row) in covered(&dark_modules(&code), side).iter().enumerate() {
            for (x, is_dark) in row.iter().enumerate() {
                let (column, line) = (x as i32 - QUIET_ZONE, y as i32 - QUIET_ZONE);
                assert_eq!(*is_dark, code.get_module(column, line), "{x} {y}");
            }
        }
    }

    #[test]
    fn text_that_is_too_long_has_no_code() {
        assert!(Owner::new().with(|| qr_code(&"x".repeat(3_000), "Code").is_none()));
        let html = Owner::new().with(|| qr_code("x", "Code").unwrap().to_html());
        assert!(html.contains("role=\"img\"") && html.contains("aria-label=\"Code\""), "{html}");
    }
}
