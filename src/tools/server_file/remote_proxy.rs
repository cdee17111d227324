//! Programs that only forward to an address: `npx mcp-remote URL --header "Name: value"`, which programs without support
//! for remote servers need. Turnleaf connects to the address itself.

use super::template::Template;

const PROXY: &str = "mcp-remote";
/// Options that only concern the proxy, without and with a value.
const SWITCHES: [&str; 4] = ["--allow-http", "--debug", "--silent", "--enable-proxy"];
const VALUES: [&str; 3] = ["--transport", "--host", "--auth-timeout"];

/// The address behind a proxy.
pub struct RemoteTarget {
    pub url: Template,
    pub headers: Vec<(String, Template)>,
    /// Arguments that have no counterpart here.
    pub unused_arguments: Vec<String>,
}

/// Returns the address to which a program forwards; `None` for any other program.
pub fn remote_target(argv: &[Template], env: &[(String, Template)]) -> Option<RemoteTarget> {
    let is_proxy = |part: &Template| {
        let name = part.as_text().map(|text| text.rsplit('/').next().unwrap_or(text));
        name.is_some_and(|name| name == PROXY || name.starts_with("mcp-remote@"))
    };
    let at = argv.iter().position(is_proxy)?;
    let mut rest = argv[at + 1..].iter();
    let mut target = RemoteTarget { url: Template::parse(""), headers: Vec::new(), unused_arguments: Vec::new() };
    let mut has_url = false;
    while let Some(part) = rest.next() {
        match part.as_text() {
            Some("--header") => {
                let (name, value) = rest.next()?.split_once(':')?;
                target.headers.push((name, value.with_environment(env)));
            }
            Some(switch) if SWITCHES.contains(&switch) => {}
            Some(option) if VALUES.contains(&option) => drop(rest.next()),
            Some(option) if option.starts_with('-') => {
                target.unused_arguments.push(option.split('=').next().unwrap_or(option).to_owned());
                rest.next();
            }
            // The number after the address is the port of the proxy's sign-in.
            Some(port) if has_url && port.bytes().all(|byte| byte.is_ascii_digit()) => {}
            _ if !has_url => {
                target.url = part.clone().with_environment(env);
                has_url = true;
            }
            _ => return None,
        }
    }
    has_url.then_some(target)
}
