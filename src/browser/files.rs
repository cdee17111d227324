//! Files that the user chose, dropped or pasted, and pasted text.

#[cfg(feature = "hydrate")]
mod real {
    use leptos::ev;
    use leptos::web_sys::HtmlInputElement;
    use send_wrapper::SendWrapper;
    use wasm_bindgen::{JsCast, JsValue};
    use web_sys::{ClipboardEvent, DataTransfer, FileList};

    /// Handle of a file on the user's disk.
    #[derive(Clone)]
    pub struct FileHandle(pub(in crate::browser) SendWrapper<web_sys::File>);

    impl FileHandle {
        pub fn name(&self) -> String {
            self.0.name()
        }

        /// Returns the size in bytes.
        pub fn size(&self) -> u64 {
            self.0.size() as u64
        }
    }

    fn to_handles(list: Option<FileList>) -> Vec<FileHandle> {
        let list = list.into_iter().flat_map(|list| (0..list.length()).filter_map(move |at| list.get(at)));
        list.map(|file| FileHandle(SendWrapper::new(file))).collect()
    }

    /// Returns the files that were chosen in a file input and empties it, so that the same file can be chosen again.
    pub fn chosen_files(event: &ev::Event) -> Vec<FileHandle> {
        let input = event.target().and_then(|target| target.dyn_into::<HtmlInputElement>().ok());
        input.map(|input| take_input_files(&input)).unwrap_or_default()
    }

    /// Returns the files of a file input and empties it.
    pub fn take_input_files(input: &HtmlInputElement) -> Vec<FileHandle> {
        let files = to_handles(input.files());
        input.set_value("");
        files
    }

    /// Returns whether files are being dragged, rather than text or a part of the page.
    pub fn has_dragged_files(event: &ev::DragEvent) -> bool {
        event.data_transfer().is_some_and(|data| data.types().includes(&"Files".into(), 0))
    }

    /// Returns the dropped files. Folders are skipped.
    pub fn dropped_files(event: &ev::DragEvent) -> Vec<FileHandle> {
        let Some(data) = event.data_transfer() else { return Vec::new() };
        let folders = folder_indexes(&data);
        let files = to_handles(data.files()).into_iter().enumerate();
        files.filter(|(at, _)| !folders.contains(at)).map(|(_, file)| file).collect()
    }

    /// Returns the indexes of folders among the files.
    fn folder_indexes(data: &DataTransfer) -> Vec<usize> {
        let get = |of: &JsValue, key: &str| js_sys::Reflect::get(of, &key.into()).unwrap_or(JsValue::UNDEFINED);
        let call = |of: &JsValue, key: &str| get(of, key).dyn_into::<js_sys::Function>().ok()?.call0(of).ok();
        let items = get(data, "items");
        let count = get(&items, "length").as_f64().unwrap_or(0.0) as u32;
        let items = (0..count).filter_map(|at| js_sys::Reflect::get_u32(&items, at).ok());
        let files = items.filter(|item| get(item, "kind").as_string().as_deref() == Some("file"));
        let is_folder =
            |item: &JsValue| call(item, "webkitGetAsEntry").is_some_and(|entry| get(&entry, "isDirectory").is_truthy());
        files.enumerate().filter(|(_, item)| is_folder(item)).map(|(at, _)| at).collect()
    }

    /// Returns what was pasted: files, or text with its HTML. Files count only if there is no text, because some
    /// programs add a picture of copied text. HTML of code editors is dropped, because it carries only their colours.
    pub fn pasted_content(event: &ev::ClipboardEvent) -> (Vec<FileHandle>, String, String) {
        let event: &ClipboardEvent = event.unchecked_ref();
        let Some(data) = event.clipboard_data() else { return Default::default() };
        let of_kind = |kind: &str| data.get_data(kind).unwrap_or_default();
        let (text, html) = (of_kind("text/plain"), of_kind("text/html"));
        let files = if text.is_empty() { to_handles(data.files()) } else { Vec::new() };
        let is_code = data.types().includes(&"vscode-editor-data".into(), 0);
        (files, text, if is_code { String::new() } else { html })
    }
}

#[cfg(not(feature = "hydrate"))]
mod real {
    use leptos::ev;
    use leptos::web_sys::HtmlInputElement;

    /// Handle of a file on the user's disk.
    #[derive(Clone)]
    pub struct FileHandle;

    impl FileHandle {
        pub fn name(&self) -> String {
            String::new()
        }

        pub fn size(&self) -> u64 {
            0
        }
    }

    pub fn chosen_files(_event: &ev::Event) -> Vec<FileHandle> {
        Vec::new()
    }

    pub fn take_input_files(_input: &HtmlInputElement) -> Vec<FileHandle> {
        Vec::new()
    }

    pub fn has_dragged_files(_event: &ev::DragEvent) -> bool {
        false
    }

    pub fn dropped_files(_event: &ev::DragEvent) -> Vec<FileHandle> {
        Vec::new()
    }

    pub fn pasted_content(_event: &ev::ClipboardEvent) -> (Vec<FileHandle>, String, String) {
        Default::default()
    }
}

pub use real::{FileHandle, chosen_files, dropped_files, has_dragged_files, pasted_content, take_input_files};
