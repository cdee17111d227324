//! The notices of the libraries in the binary and in the browser bundle: their licenses require that the texts are
//! delivered with them. The file is part of the site, so that `turnleaf licenses` and the page "About" show the notices
//! of exactly this build.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use serde_json::Value;

use super::diagram;
use crate::step::output;
use crate::workspace;

/// The name of the file in the site.
pub const FILE: &str = "third-party-notices.txt";
/// The beginnings of the names of license files, in lower case.
const NAMES: [&str; 6] = ["license", "licence", "copying", "copyright", "notice", "unlicense"];
/// The builds whose libraries are delivered: target and feature of the package `turnleaf`. The target of the server is
/// the one of this machine.
const BUILDS: [(Option<&str>, &str); 2] = [(None, "ssr"), (Some("wasm32-unknown-unknown"), "hydrate")];

/// A library with its license files.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
struct Library {
    name: String,
    version: String,
    license: String,
    repository: String,
    texts: Vec<String>,
}

/// Writes the notices into the site.
///
/// # Errors
/// Cargo cannot resolve the packages, or a file cannot be read or written.
pub fn write(site: &Path) -> Result<()> {
    let mut libraries = BTreeSet::new();
    for (target, feature) in BUILDS {
        libraries.extend(libraries_of(&resolve(target, feature)?)?);
    }
    libraries.extend(fonts()?);
    libraries.insert(mermaid()?);
    let path = site.join(FILE);
    fs::write(&path, notices(&libraries)).with_context(|| path.display().to_string())
}

/// Returns the fonts that are part of the site, each made with fontTools and without hints:
///
/// * `math.woff2`: Noto Sans Math 3.000 without the signs that formulas do not use, from the npm package
///   `@fontsource/noto-sans-math`.
/// * `sans.woff2`: Inter with the letters of western European languages in the weights 400 to 700, from
///   `inter-latin-wght-normal.woff2` of the npm package `@fontsource-variable/inter` 5.3.0.
fn fonts() -> Result<[Library; 2]> {
    Ok([
        font("Noto Sans Math", "3.000", "https://github.com/notofonts/math", "math-font-license.txt")?,
        font("Inter", "4.001", "https://github.com/rsms/inter", "sans-font-license.txt")?,
    ])
}

fn font(name: &str, version: &str, repository: &str, license_file: &str) -> Result<Library> {
    let path = workspace::root().join("style/fonts").join(license_file);
    let license = fs::read_to_string(&path).with_context(|| path.display().to_string())?;
    Ok(Library {
        name: name.to_owned(),
        version: version.to_owned(),
        license: "OFL-1.1".to_owned(),
        repository: repository.to_owned(),
        texts: vec![normalized(&license)],
    })
}

/// Returns the library that draws diagrams; its text has the licenses of all that is in it.
fn mermaid() -> Result<Library> {
    let path = workspace::root().join("vendor/mermaid/LICENSE.txt");
    let license = fs::read_to_string(&path).with_context(|| path.display().to_string())?;
    Ok(Library {
        name: "Mermaid".to_owned(),
        version: diagram::VERSION.to_owned(),
        license: "MIT".to_owned(),
        repository: "https://github.com/mermaid-js/mermaid".to_owned(),
        texts: vec![normalized(&license)],
    })
}

fn resolve(target: Option<&str>, feature: &str) -> Result<Value> {
    let target = match target {
        Some(target) => target.to_owned(),
        None => host()?,
    };
    let mut metadata = workspace::cargo("metadata");
    metadata.args(["--format-version", "1", "--locked", "--no-default-features", "--filter-platform", &target]);
    metadata.args(["--features", &format!("turnleaf/{feature}")]);
    Ok(serde_json::from_str(&output(&mut metadata)?)?)
}

/// Returns the target triple of this machine.
fn host() -> Result<String> {
    let version = output(std::process::Command::new("rustc").arg("-vV"))?;
    let host = version.lines().find_map(|line| line.strip_prefix("host: "));
    Ok(host.context("rustc does not name its host")?.to_owned())
}

/// Returns the libraries that the package `turnleaf` links, from the output of `cargo metadata`.
fn libraries_of(metadata: &Value) -> Result<BTreeSet<Library>> {
    let list = |value: &Value| value.as_array().cloned().unwrap_or_default();
    let packages: BTreeMap<String, Value> =
        list(&metadata["packages"]).into_iter().map(|one| (text(&one["id"]), one)).collect();
    let nodes: BTreeMap<String, Value> =
        list(&metadata["resolve"]["nodes"]).into_iter().map(|one| (text(&one["id"]), one)).collect();
    let root = packages.iter().find(|(_, package)| package["name"] == "turnleaf").context("no package `turnleaf`")?;
    let (mut reached, mut waiting) = (BTreeSet::new(), vec![root.0.clone()]);
    while let Some(id) = waiting.pop() {
        if !reached.insert(id.clone()) {
            continue;
        }
        for dependency in list(&nodes.get(&id).unwrap_or(&Value::Null)["deps"]) {
            // Dependencies of build scripts and tests are not delivered.
            if list(&dependency["dep_kinds"]).iter().any(|kind| kind["kind"].is_null()) {
                waiting.push(text(&dependency["pkg"]));
            }
        }
    }
    // Packages without a source are those of this workspace.
    let foreign = reached.iter().filter_map(|id| packages.get(id)).filter(|package| !package["source"].is_null());
    foreign.map(library).collect()
}

fn library(package: &Value) -> Result<Library> {
    let manifest = PathBuf::from(text(&package["manifest_path"]));
    let dir = manifest.parent().context("a manifest without a folder")?;
    let mut files: Vec<PathBuf> = fs::read_dir(dir)
        .with_context(|| dir.display().to_string())?
        .filter_map(|entry| Some(entry.ok()?.path()))
        .filter(|path| path.is_file() && is_license_file(path))
        .collect();
    files.sort();
    let texts =
        files.iter().map(|file| Ok(normalized(&String::from_utf8_lossy(&fs::read(file)?)))).collect::<Result<_>>()?;
    Ok(Library {
        name: text(&package["name"]),
        version: text(&package["version"]),
        license: text(&package["license"]),
        repository: text(&package["repository"]),
        texts,
    })
}

fn is_license_file(path: &Path) -> bool {
    let name = path.file_name().map(|name| name.to_string_lossy().to_lowercase()).unwrap_or_default();
    let is_code = path.extension().is_some_and(|extension| extension == "rs" || extension == "html");
    !is_code && NAMES.iter().any(|start| name.starts_with(start))
}

/// Removes differences that are none: line ends, and blanks at the end of lines and of the text.
fn normalized(text: &str) -> String {
    let lines: Vec<&str> = text.lines().map(str::trim_end).collect();
    lines.join("\n").trim_matches('\n').to_owned()
}

fn text(value: &Value) -> String {
    value.as_str().unwrap_or_default().to_owned()
}

/// Lists the libraries, and then each license text once, with the libraries that deliver it.
fn notices(libraries: &BTreeSet<Library>) -> String {
    let mut out = format!(
        "Turnleaf contains the following {} libraries. Below the list are their license texts and notices.\n\n",
        libraries.len()
    );
    let mut by_text: BTreeMap<&str, Vec<String>> = BTreeMap::new();
    for library in libraries {
        let Library { name, version, license, repository, texts } = library;
        let _ = writeln!(out, "{}", format!("{name} {version} · {license} · {repository}").trim_end_matches(" · "));
        for text in texts {
            by_text.entry(text).or_default().push(format!("{name} {version}"));
        }
    }
    let mut texts: Vec<(&str, Vec<String>)> = by_text.into_iter().collect();
    texts.sort_by_key(|(text, owners)| (owners[0].clone(), *text));
    for (text, owners) in texts {
        let _ = write!(out, "\n{}\n{}\n\n{text}\n", "-".repeat(80), owners.join(", "));
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn named(name: &str, texts: &[&str]) -> Library {
        Library {
            name: name.into(),
            version: "1.0.0".into(),
            license: "MIT".into(),
            repository: format!("https://example.org/{name}"),
            texts: texts.iter().map(|text| (*text).to_owned()).collect(),
        }
    }

    #[test]
    fn license_text_of_several_libraries_is_printed_once() {
        let text = notices(&BTreeSet::from([named("a", &["Do it."]), named("b", &["Do it.", "By B."])]));
        assert!(text.contains("a 1.0.0 · MIT · https://example.org/a\nb 1.0.0 · MIT"), "{text}");
        assert_eq!(text.matches("Do it.").count(), 1, "{text}");
        assert!(text.contains("a 1.0.0, b 1.0.0\n\nDo it.\n") && text.contains("b 1.0.0\n\nBy B.\n"), "{text}");
    }

    #[test]
    fn fonts_have_their_licenses() {
        for font in fonts().unwrap() {
            assert!(font.texts[0].contains("SIL OPEN FONT LICENSE"), "{}", font.texts[0]);
        }
        for file in ["math.woff2", "sans.woff2"] {
            assert!(workspace::root().join("public/pkg").join(file).is_file(), "{file}");
        }
    }

    #[test]
    fn library_of_diagrams_has_its_licenses() {
        let text = &mermaid().unwrap().texts[0];
        for owner in ["Knut Sveidqvist", "Mike Bostock", "Apache License", "TypeFox", "OpenJS Foundation"] {
            assert!(text.contains(owner), "{owner}");
        }
    }

    #[test]
    fn license_files_are_found_by_name() {
        for name in ["LICENSE", "LICENSE-MIT", "license.txt", "COPYING", "NOTICE.md", "UNLICENSE"] {
            assert!(is_license_file(Path::new(name)), "{name}");
        }
        for name in ["license.rs", "README.md", "licenses.html", "Cargo.toml"] {
            assert!(!is_license_file(Path::new(name)), "{name}");
        }
    }

    #[test]
    fn libraries_of_this_workspace_are_complete() {
        let metadata = resolve(None, "ssr").expect("cargo metadata");
        let libraries = libraries_of(&metadata).expect("libraries");
        let names: BTreeSet<&str> = libraries.iter().map(|library| library.name.as_str()).collect();
        assert!(["axum", "leptos", "sqlx", "tokio"].iter().all(|name| names.contains(name)), "{names:?}");
        assert!(!names.contains("turnleaf") && !names.contains("nextest") && !names.contains("proptest"), "{names:?}");
        let unlicensed: Vec<_> =
            libraries.iter().filter(|one| one.license.is_empty() && one.texts.is_empty()).collect();
        assert!(unlicensed.is_empty(), "{unlicensed:?}");
    }
}
