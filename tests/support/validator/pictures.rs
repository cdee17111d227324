//! Rules for images in requests: the form, place, media types and roles that each API accepts. Turnleaf's internal
//! blob references must never be sent in place of the bytes.

use serde_json::{Map, Value};

use super::{ProviderRefusal, ProviderRequest, refuse};

const ALL: [&str; 4] = ["image/png", "image/jpeg", "image/gif", "image/webp"];

/// Checks the images of a request against the provider's rules.
pub fn check_images(request: &ProviderRequest) -> Result<(), ProviderRefusal> {
    let body = request.body.to_string();
    if body.contains(r"\u0000blob:") || body.contains("\u{2400}blob:") {
        refuse!("the name of an image went out instead of its bytes");
    }
    let tail = request.path.trim_start_matches('/').split_once('/').map_or("", |(_, tail)| tail);
    match tail.split('?').next().unwrap_or(tail) {
        "v1/messages" => messages(request),
        "v1/chat/completions" => chat(request),
        "v1/responses" => responses(request),
        "api/chat" => ollama(request),
        _ => gemini(request),
    }
}

/// Decodes strict base64.
pub fn decode_base64(text: &str) -> Option<Vec<u8>> {
    const LETTERS: &[u8] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let bare = text.trim_end_matches('=');
    if text.is_empty() || !text.len().is_multiple_of(4) || text.len() - bare.len() > 2 {
        return None;
    }
    let (mut out, mut bits, mut held) = (Vec::new(), 0_u32, 0);
    for letter in bare.bytes() {
        bits = (bits << 6) | u32::try_from(LETTERS.iter().position(|known| *known == letter)?).ok()?;
        held += 6;
        if held >= 8 {
            held -= 8;
            out.push(u8::try_from((bits >> held) & 0xff).ok()?);
        }
    }
    // The remaining bits must be zero.
    (bits & ((1 << held) - 1) == 0).then_some(out)
}

/// Detects the media type of bytes.
fn kind(bytes: &[u8]) -> &'static str {
    match bytes {
        [0x89, b'P', b'N', b'G', ..] => "image/png",
        [0xff, 0xd8, 0xff, ..] => "image/jpeg",
        [b'G', b'I', b'F', b'8', ..] => "image/gif",
        [b'R', b'I', b'F', b'F', ..] => "image/webp",
        _ => "nothing",
    }
}

fn keys_are(value: &Value, keys: &[&str]) -> bool {
    let known: Vec<&str> = value.as_object().into_iter().flat_map(Map::keys).map(String::as_str).collect();
    known.len() == keys.len() && keys.iter().all(|key| known.contains(key))
}

/// Checks that an image is valid base64 and has an accepted media type that matches its bytes.
fn check_image(mime: &Value, data: &Value, kinds: &[&str]) -> Result<(), ProviderRefusal> {
    let (mime, data) = (mime.as_str().unwrap_or_default(), data.as_str().unwrap_or_default());
    let Some(bytes) = decode_base64(data) else { refuse!("image: invalid base64 data") };
    if !kinds.contains(&mime) {
        refuse!("image: unsupported media type {mime}");
    }
    if kind(&bytes) != mime {
        refuse!(
            "The image was specified using the {mime} media type, but the image appears to be a {} image",
            kind(&bytes)
        );
    }
    Ok(())
}

fn check_data_url(url: &Value, kinds: &[&str]) -> Result<(), ProviderRefusal> {
    let url = url.as_str().unwrap_or_default();
    let Some((mime, data)) = url.strip_prefix("data:").and_then(|url| url.split_once(";base64,")) else {
        refuse!("Invalid image_url: expected a data URL with base64, but got another");
    };
    check_image(&mime.into(), &data.into(), kinds)
}

fn list(value: &Value) -> &[Value] {
    value.as_array().map_or(&[], Vec::as_slice)
}

fn messages(request: &ProviderRequest) -> Result<(), ProviderRefusal> {
    let image = |at: usize, block: &Value| -> Result<(), ProviderRefusal> {
        let source = &block["source"];
        if !keys_are(block, &["type", "source"]) || !keys_are(source, &["type", "media_type", "data"]) {
            refuse!("messages.{at}.content.0.image.source: Extra inputs are not permitted");
        }
        let length = source["data"].as_str().map_or(0, str::len);
        if length > 5 << 20 {
            refuse!(
                "messages.{at}.content.0.image.source.base64: image exceeds 5 MB maximum: {length} bytes > 5242880 bytes"
            );
        }
        check_image(&source["media_type"], &source["data"], &ALL)
    };
    for (at, message) in request.list("messages").iter().enumerate() {
        for block in list(&message["content"]) {
            match block["type"].as_str().unwrap_or_default() {
                "image" if message["role"] != "user" => {
                    refuse!("messages.{at}.content: image blocks are only permitted in user messages")
                }
                "image" => image(at, block)?,
                "tool_result" => {
                    for part in list(&block["content"]) {
                        match part["type"].as_str().unwrap_or_default() {
                            "text" if part["text"].as_str().is_some_and(|text| !text.trim().is_empty()) => {}
                            "image" if block["is_error"] == true => {
                                refuse!(
                                    "messages.{at}.content: all content must be type \"text\" if `is_error` is true"
                                )
                            }
                            "image" => image(at, part)?,
                            other => refuse!("messages.{at}.content.0.tool_result.content: {other} is not permitted"),
                        }
                    }
                }
                _ => {}
            }
        }
    }
    Ok(())
}

fn chat(request: &ProviderRequest) -> Result<(), ProviderRefusal> {
    let (provider, model) = (request.provider.trim_end_matches("-v1"), request.text("model"));
    for (at, message) in request.list("messages").iter().enumerate() {
        for part in list(&message["content"]) {
            match part["type"].as_str().unwrap_or_default() {
                "text" if keys_are(part, &["type", "text"]) && part["text"] != "" => {}
                // Thinking parts are accepted only in assistant messages.
                "thinking" if message["role"] == "assistant" => {}
                "image_url" if message["role"] != "user" => {
                    refuse!(
                        "Image URLs are only allowed for messages with role 'user', but this message with role '{}' contains an image URL.",
                        message["role"]
                    )
                }
                "image_url" => {
                    match provider {
                        "deepseek" => refuse!(
                            "Failed to deserialize the JSON body into the target type: messages[{at}]: unknown variant `image_url`, expected `text`"
                        ),
                        "llamacpp" if !model.contains("vl") => {
                            return Err(ProviderRefusal::new(
                                500,
                                "image input is not supported - hint: if this is unexpected, you may need to provide the mmproj",
                            ));
                        }
                        "openai" if model.starts_with("o3-mini") => {
                            refuse!("Invalid content type. image_url is only supported by certain models.")
                        }
                        _ => {}
                    }
                    if !keys_are(part, &["type", "image_url"]) {
                        refuse!("Invalid type for 'messages[{at}].content[0]'");
                    }
                    check_data_url(&part["image_url"]["url"], &ALL)?;
                }
                other => refuse!("Invalid value: '{other}'. Supported values are: 'text', 'image_url', and so on."),
            }
        }
    }
    Ok(())
}

fn responses(request: &ProviderRequest) -> Result<(), ProviderRefusal> {
    for (at, item) in request.list("input").iter().enumerate() {
        for part in list(&item["content"]).iter().chain(list(&item["output"])) {
            match part["type"].as_str().unwrap_or_default() {
                "input_text" if !part["text"].is_string() => {
                    refuse!("Missing required parameter: 'input[{at}].content[0].text'.")
                }
                "input_image" if request.text("model").starts_with("o3-mini") => {
                    refuse!("Invalid value: 'input_image'. This model does not support image inputs.")
                }
                "input_image" => {
                    if !keys_are(part, &["type", "image_url", "detail"]) || part["detail"] != "auto" {
                        refuse!("Unknown parameter: 'input[{at}].content[0]'.");
                    }
                    check_data_url(&part["image_url"], &ALL)?;
                }
                _ => {}
            }
        }
        if let Some(result) = item["result"].as_str().filter(|_| item["type"] == "image_generation_call")
            && decode_base64(result).is_none()
        {
            refuse!("Invalid 'input[{at}].result': expected base64");
        }
    }
    Ok(())
}

fn gemini(request: &ProviderRequest) -> Result<(), ProviderRefusal> {
    let kinds = ["image/png", "image/jpeg", "image/webp"];
    let accepts_results = request.path.contains("/gemini-3");
    for content in request.list("contents") {
        for part in list(&content["parts"]) {
            if let Some(data) = part.get("inlineData") {
                if !keys_are(data, &["mimeType", "data"]) {
                    refuse!("Invalid JSON payload received. Unknown name at 'inline_data': Cannot find field.");
                }
                check_image(&data["mimeType"], &data["data"], &kinds)?;
            }
            for inner in list(&part["functionResponse"]["parts"]) {
                if !accepts_results
                    || !keys_are(inner, &["inlineData"])
                    || !keys_are(&inner["inlineData"], &["mimeType", "data"])
                {
                    refuse!("Multimodal function responses are not supported for this model.");
                }
                check_image(&inner["inlineData"]["mimeType"], &inner["inlineData"]["data"], &kinds)?;
            }
        }
    }
    Ok(())
}

fn ollama(request: &ProviderRequest) -> Result<(), ProviderRefusal> {
    for message in request.list("messages") {
        let Some(images) = message.get("images") else { continue };
        if message["role"] != "user" || list(images).is_empty() {
            refuse!("images belong to what a person says");
        }
        for image in list(images) {
            let Some(bytes) = image.as_str().and_then(decode_base64) else {
                refuse!("illegal base64 data at input byte 4");
            };
            if !["image/png", "image/jpeg", "image/webp"].contains(&kind(&bytes)) {
                refuse!("Failed to load image or audio file");
            }
        }
        if !request.text("model").contains("vl") {
            return Err(ProviderRefusal::new(500, "this model is missing data required for image input"));
        }
    }
    Ok(())
}
