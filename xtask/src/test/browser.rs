//! The browser test environment: Chromium, the node packages and Playwright.

use std::env;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Result, bail};

use crate::memory;
use crate::packages::{self, install_packages};
use crate::server::{self, bare_command};
use crate::step::{find_program, run};
use crate::workspace;

/// The dependencies of browser tests besides the product.
pub struct Browser {
    chromium: PathBuf,
    /// The whole browser, for what the headless shell lacks.
    whole_chromium: PathBuf,
}

/// Finds or installs the browser, and installs the node packages of the lock file.
///
/// # Errors
/// Node or Chromium is missing and cannot be installed; the error explains how to install it.
pub fn prepare_browser() -> Result<Browser> {
    let (chromium, whole_chromium) = (headless_chromium()?, chromium()?);
    packages::install_node_packages("the browser tests", &workspace::end2end())?;
    Ok(Browser { chromium, whole_chromium })
}

/// Finds or installs Chromium's headless shell, which needs a fifth less of the processor than the whole browser, or else
/// takes that.
fn headless_chromium() -> Result<PathBuf> {
    const SHELL: &str = "chromium-headless-shell";
    if let Some(chosen) = env::var_os("CHROMIUM").map(PathBuf::from).or_else(|| find_program(SHELL)) {
        return Ok(chosen);
    }
    match install_packages("Chromium without a window", &[SHELL]) {
        Ok(()) => find_program(SHELL).map_or_else(chromium, Ok),
        Err(_) => chromium(),
    }
}

/// Finds or installs Chromium.
///
/// # Errors
/// It is missing and cannot be installed; the error explains how to install it.
pub fn chromium() -> Result<PathBuf> {
    let find = || ["chromium", "chromium-browser", "google-chrome"].iter().find_map(find_program);
    if let Some(chosen) = env::var_os("CHROMIUM").map(PathBuf::from).or_else(find) {
        return Ok(chosen);
    }
    install_packages("Chromium", &["chromium"])?;
    let Some(found) = find() else { bail!("Chromium was installed, and there is no `chromium` on the PATH") };
    Ok(found)
}

impl Browser {
    /// Type-checks the tests and runs them with a binary and a site. `databases` is the URL prefix of empty
    /// PostgreSQL databases, one for each attempt of each test.
    ///
    /// # Errors
    /// A test failed.
    pub fn run_tests(&self, binary: &Path, site: &Path, databases: &str) -> Result<()> {
        run(self.playwright(binary, "tsc").arg("--noEmit"))?;
        let mut test = self.playwright(binary, "playwright");
        test.arg("test").env("TURNLEAF_SITE_ROOT", site).env("TURNLEAF_TEST_PG_DATABASES", databases);
        let files = memory::shared_dir("turnleaf-end2end");
        if let Some(dir) = &files {
            test.env("TMPDIR", dir.path());
        }
        run(&mut test)
    }

    /// Captures the pages and their accessible names, and replaces the approved pictures.
    ///
    /// # Errors
    /// A page could not be captured.
    pub fn approve_pictures(&self, binary: &Path, site: &Path) -> Result<()> {
        let mut test = self.playwright(binary, "playwright");
        test.args(["test", "--project=pictures", "--update-snapshots=changed"]).env("TURNLEAF_SITE_ROOT", site);
        run(test.env("TURNLEAF_PICTURES", "refresh"))
    }

    /// Updates the pictures of the docs.
    ///
    /// # Errors
    /// A page could not be captured.
    pub fn update_gallery(&self, binary: &Path, site: &Path) -> Result<()> {
        let mut test = self.playwright(binary, "playwright");
        test.args(["test", "--project=pictures", "--workers=1", "tests/pictures/docs.spec.ts"]);
        run(test.env("TURNLEAF_SITE_ROOT", site).env("TURNLEAF_PICTURES", "docs"))
    }

    /// Runs the conversation with a real model.
    ///
    /// # Errors
    /// The conversation did not go as expected.
    pub fn run_real_model(&self, binary: &Path, url: &str, model: &str) -> Result<()> {
        let mut test = self.playwright(binary, "playwright");
        test.env("REAL_MODEL_URL", url).env("REAL_MODEL", model);
        run(test.args(["test", "--config", "real/playwright.config.ts"]))
    }

    fn playwright(&self, binary: &Path, program: &str) -> Command {
        let mut command = bare_command(&workspace::end2end().join("node_modules/.bin").join(program));
        command.current_dir(workspace::end2end());
        command.env("CHROMIUM", &self.chromium).env("WHOLE_CHROMIUM", &self.whole_chromium);
        command.env("TURNLEAF_BINARY", binary);
        command.env("TURNLEAF_PLANT", server::debug_binary().with_file_name("plant"));
        command
    }
}
