//! Images: re-encoded, upright, in their sizes, and without any other data of their files.

use image::codecs::gif::GifDecoder;
use image::{AnimationDecoder, DynamicImage, ImageFormat, RgbaImage, load_from_memory};
use turnleaf::domain::limits;
use turnleaf::domain::tools::tool_output;
use turnleaf_convert::{ConversionError, EncodedImage, FileKind};
use turnleaf_tools::result::{ResultPart, build_result, redraw_pictures};
use turnleaf_tools::toolbox::{CallOutcome, CallResult};

use crate::sample_files::{encode_image, gif, photo, png_head, png_with_words, two_tone_image};
use crate::{converter, picture};

fn contains_bytes(form: &EncodedImage, words: &[u8]) -> bool {
    form.bytes.windows(words.len()).any(|window| window == words)
}

fn decode_image(form: &EncodedImage) -> DynamicImage {
    let image = load_from_memory(&form.bytes).unwrap();
    assert_eq!((image.width(), image.height()), (form.width, form.height));
    image
}

#[tokio::test]
async fn photo_is_rotated_upright_and_loses_location() {
    let file = photo(800, 400);
    assert!(file.windows(4).any(|four| four == b"GPS!"), "the test's own place");
    let (kind, made) = picture("a.png", file.clone()).await.unwrap();
    assert_eq!((kind, made.image.mime, made.for_models.is_none()), (FileKind::Jpeg, "image/jpeg", true));
    let small = made.thumbnail.clone().unwrap();
    assert_eq!((small.width, small.height), (256, 512));
    for form in [&made.image, &small] {
        for hidden in [&b"Exif"[..], b"GPS!", b"<script>", b"\xff\xe1"] {
            assert!(!contains_bytes(form, hidden), "{hidden:?}");
        }
        let image = decode_image(form).into_rgb8();
        let (above, below) =
            (image.get_pixel(image.width() / 2, 10), image.get_pixel(image.width() / 2, image.height() - 10));
        assert!(above[0] > 180 && above[2] < 60 && below[2] > 180 && below[0] < 60, "{above:?} {below:?}");
    }
    assert_eq!(converter().read_picture(kind, file.into()).await, Ok(made), "the same bytes give the same bytes");
}

#[tokio::test]
async fn every_image_kind_keeps_format_and_loses_hidden_data() {
    let (kind, made) = picture("a.jpg", png_with_words("secret words")).await.unwrap();
    assert_eq!((kind, made.image.mime), (FileKind::Png, "image/png"));
    assert!(!contains_bytes(&made.image, b"secret") && made.thumbnail.is_none() && made.for_models.is_none());
    assert_eq!(decode_image(&made.image).into_rgb8(), two_tone_image(40, 20).into_rgb8());

    let clear = DynamicImage::ImageRgba8(RgbaImage::from_pixel(600, 30, image::Rgba([1, 2, 3, 100])));
    let (kind, made) = picture("a", encode_image(&clear, ImageFormat::WebP)).await.unwrap();
    assert_eq!((kind, made.image.mime), (FileKind::WebP, "image/webp"));
    assert_eq!(decode_image(&made.image).into_rgba8(), clear.into_rgba8());
    let small = made.thumbnail.unwrap();
    assert_eq!((small.mime, small.width, decode_image(&small).color().has_alpha()), ("image/png", 512, true));
}

#[tokio::test]
async fn converted_image_is_unchanged_when_converted_again_and_appended_data_is_removed() {
    let grey = DynamicImage::ImageLuma8(two_tone_image(90, 70).into_luma8());
    let clear = DynamicImage::ImageRgba8(RgbaImage::from_pixel(60, 30, image::Rgba([1, 2, 3, 100])));
    for file in [
        photo(801, 402),
        encode_image(&grey, ImageFormat::Jpeg),
        png_with_words("secret words"),
        encode_image(&clear, ImageFormat::WebP),
        gif(3, 16),
    ] {
        let (_, once) = picture("a", file).await.unwrap();
        let (_, again) = picture("a", once.image.bytes.to_vec()).await.unwrap();
        assert_eq!(again.image, once.image, "{}", once.image.mime);
        let more = [&once.image.bytes, &b"GPS! behind it"[..]].concat();
        let (_, clean) = picture("a", more).await.unwrap();
        assert!(!contains_bytes(&clean.image, b"GPS!"), "{}", once.image.mime);
    }
    let (_, once) = picture("a", photo(80, 40)).await.unwrap();
    let comment = [&b"\xff\xfe\0\x08secret"[..], &once.image.bytes[2..]].concat();
    let (_, clean) = picture("a", [&b"\xff\xd8"[..], &comment].concat()).await.unwrap();
    assert!(!contains_bytes(&clean.image, b"secret"));
}

#[tokio::test]
async fn images_for_models_fit_model_limits() {
    let (_, made) = picture("a.png", encode_image(&two_tone_image(3_000, 300), ImageFormat::Png)).await.unwrap();
    let shrunk = made.for_models.unwrap();
    assert_eq!((made.image.width, shrunk.width, shrunk.height), (3_000, limits::MODEL_IMAGE_PIXELS, 200));
    assert!(shrunk.bytes.len() <= limits::MODEL_IMAGE_BYTES);
    decode_image(&shrunk);
}

#[tokio::test]
async fn small_animation_stays_animated() {
    let (kind, made) = picture("a.gif", gif(3, 16)).await.unwrap();
    assert_eq!((kind, made.image.mime), (FileKind::Gif, "image/gif"));
    let frames =
        GifDecoder::new(std::io::Cursor::new(&made.image.bytes)).unwrap().into_frames().collect_frames().unwrap();
    let colours: Vec<u8> = frames.iter().map(|frame| frame.buffer().get_pixel(3, 3)[0]).collect();
    assert_eq!(colours, [0, 40, 80]);
    assert_eq!(made.for_models.unwrap().mime, "image/png", "not every model takes what moves");

    let (_, still) = picture("a.gif", gif(1, 16)).await.unwrap();
    assert_eq!((still.image.mime, still.for_models.is_none()), ("image/png", true));
}

#[tokio::test]
async fn hostile_images_are_refused_cheaply() {
    let too_large = ConversionError::ImageTooLarge("50 megapixels, 16384 pixels per side".into());
    for (case, file) in [
        ("50,000 wide and high", png_head(50_000, 50_000, 8)),
        ("too long a side", png_head(16_385, 1, 8)),
        ("too many pixels", png_head(16_000, 4_000, 8)),
        ("too many bytes of pixels", png_head(7_000, 7_000, 16)),
    ] {
        assert_eq!(picture("a.png", file).await.unwrap_err(), too_large, "{case}");
    }
    let whole = encode_image(&two_tone_image(40, 20), ImageFormat::Jpeg);
    for (case, file) in [
        ("no pixels", png_head(100, 100, 8)),
        ("a head", whole[..30].to_vec()),
        ("no sides", png_head(0, 0, 8)),
        ("no WebP", b"RIFF\x10\0\0\0WEBPVP8 \xff\xff\xff\xff".to_vec()),
    ] {
        let refused = picture("a.png", file).await.unwrap_err();
        assert!(matches!(refused, ConversionError::Damaged(_)), "{case}: {refused:?}");
    }
    // The bytes after the signature are read as width and height.
    let polyglot = picture("x.html", b"GIF89a/*<script>XSS</script>*/".to_vec()).await;
    assert_eq!(polyglot.unwrap_err(), too_large);
    for (name, file) in [("a.svg", &b"<svg onload='XSS'/>"[..]), ("a.png", b"\x7fELF\x02\x01\x01\0\0\0\0\0")] {
        assert!(matches!(picture(name, file.to_vec()).await, Err(ConversionError::Unsupported(_))), "{name}");
    }
    assert_eq!(picture("a.png", Vec::new()).await, Err(ConversionError::Empty));
}

/// Stores a tool result: the real converter process re-encodes its images.
async fn store_result(parts: Vec<ResultPart>) -> CallResult {
    redraw_pictures(&converter(), build_result(CallOutcome::Done, parts, None)).await
}

fn image_part(bytes: &[u8]) -> ResultPart {
    ResultPart::Image { mime: "image/png".into(), bytes: bytes.to_vec().into() }
}

#[tokio::test]
async fn tool_images_lose_location_and_trailing_data() {
    let with_more = |file: Vec<u8>| [file, b"GPS! <script>".to_vec()].concat();
    let files = [with_more(photo(300, 200)), with_more(png_with_words("secret words")), with_more(gif(3, 16))];
    let mut parts: Vec<ResultPart> = files.iter().map(|file| image_part(file)).collect();
    parts.push(ResultPart::Other { mime: "application/octet-stream".into(), bytes: files[0].clone().into() });
    let outcome = store_result(parts).await;
    let images = tool_output::result_images(&outcome.metadata.clone().into());
    assert_eq!(images.len(), 4, "{:?}", outcome.metadata);
    for (image, mime) in images.iter().zip(["image/jpeg", "image/png", "image/gif", "image/jpeg"]) {
        assert_eq!(image.mime, mime);
        let blob = outcome.blobs.iter().find(|blob| blob.sha256 == image.blob).unwrap();
        assert_eq!(blob.mime, mime);
        load_from_memory(&blob.bytes).unwrap();
    }
    assert_eq!(outcome.blobs.len(), 3, "the same picture is one blob");
    for blob in &outcome.blobs {
        for hidden in [&b"Exif"[..], b"GPS!", b"<script>", b"secret"] {
            assert!(!blob.bytes.windows(hidden.len()).any(|some| some == hidden), "{} {hidden:?}", blob.mime);
        }
    }
}

#[tokio::test]
async fn unreadable_tool_image_becomes_file() {
    let bomb = png_head(50_000, 50_000, 8);
    let cut = encode_image(&two_tone_image(40, 20), ImageFormat::Jpeg)[..30].to_vec();
    let whole = png_with_words("secret words");
    let parts = vec![ResultPart::Text("see".into()), image_part(&bomb), image_part(&cut), image_part(&whole)];
    let outcome = store_result(parts).await;
    assert_eq!(outcome.outcome, CallOutcome::Done);
    let images = tool_output::result_images(&outcome.metadata.clone().into());
    assert_eq!(images.iter().map(|image| image.mime.as_str()).collect::<Vec<_>>(), ["image/png"]);
    let files = outcome.metadata["files"].as_array().unwrap();
    assert_eq!(files.len(), 2);
    for (file, bytes) in files.iter().zip([&bomb, &cut]) {
        assert_eq!(
            (file["mime"].as_str(), file["bytes"].as_u64()),
            (Some("application/octet-stream"), Some(bytes.len() as u64))
        );
        let blob = outcome.blobs.iter().find(|blob| file["blob"] == blob.sha256.as_str()).unwrap();
        assert_eq!((blob.mime.as_str(), blob.bytes.as_ref()), ("application/octet-stream", bytes.as_slice()));
    }
    let text = outcome.result.as_str().unwrap();
    assert!(text.starts_with("see\n\n[2 images could not be read and are kept as files."), "{text}");
}
