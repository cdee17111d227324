//! Fuzz target of the files with tool servers of other programs: nothing of a text is lost in its variables, the limit
//! holds, and what is read does not depend on comments.

use turnleaf::domain::limits;
use turnleaf_tools::server_file::{FileTransport, parse_server_file};

pub fn reader_holds(input: &[u8]) {
    let text = String::from_utf8_lossy(input);
    let Ok(file) = parse_server_file(&text) else { return };
    assert!(!file.servers.is_empty() && file.servers.len() <= limits::TOOL_SERVERS_READ);
    for server in &file.servers {
        let Ok(transport) = &server.transport else { continue };
        for variable in transport.variables() {
            assert!(!variable.name.is_empty(), "{variable:?}");
        }
        if let FileTransport::Program { argv, .. } = transport {
            assert!(!argv.is_empty());
        }
        assert!(server.total_seconds.is_none_or(|seconds| limits::TOOL_SETTABLE_SECONDS.contains(&seconds)));
    }
    let commented = format!("/* before */ {text}\n// after");
    if !text.starts_with('\u{feff}') && commented.len() <= limits::TOOL_SERVER_FILE_BYTES {
        assert_eq!(parse_server_file(&commented).as_ref(), Ok(&file), "{text}");
    }
}
