// Runs Lighthouse on a page with its defaults: a phone with a slow network. `cargo xtask bench A1` runs it. Takes an
// address; prints one JSON object of scores from 0 to 100, and the audits that cost points.
import { launch } from "chrome-launcher";
import lighthouse from "lighthouse";

const [, , url] = process.argv;
const CATEGORIES = ["performance", "accessibility", "best-practices"];

const chrome = await launch({
  chromePath: process.env.CHROMIUM ?? "/usr/bin/chromium",
  chromeFlags: ["--headless", "--no-sandbox", "--disable-gpu", "--disable-quic"],
});
try {
  const { lhr } = await lighthouse(url, { port: chrome.port, onlyCategories: CATEGORIES, logLevel: "error" });
  const scores = CATEGORIES.map((name) => [name, Math.round(lhr.categories[name].score * 100)]);
  const counts = (name) => lhr.categories[name].auditRefs.filter(({ weight }) => weight > 0).map(({ id }) => lhr.audits[id]);
  const lost = CATEGORIES.flatMap((name) => counts(name).filter(({ score }) => score !== null && score < 0.9).map(({ id }) => id));
  console.log(JSON.stringify({ ...Object.fromEntries(scores), lost: lost.join(" ") }));
} finally {
  chrome.kill();
}
