// What is drawn. A turn's elements without what may differ between two looks at the same turn: what is open, which moment it is, the id
// that a page gives to what its forms ask, and the marks that the framework leaves.
import type { Locator, Page } from "@playwright/test";

/** One line for each element and each text, indented by depth. */
export function outline(turn: Locator): Promise<string> {
  return turn.evaluate((root) => {
    const passing = new Set(["open", "aria-expanded", "hidden", "inert", "tabindex", "style", "data-hk", "nonce"]);
    const lines: string[] = [];
    const add = (depth: number, text: string) => lines.push("  ".repeat(depth) + text);
    const visit = (node: Node, depth: number) => {
      if (node instanceof Text) {
        // Neighbouring texts are one text: where the server begins a new one is its own affair.
        const text = (node.textContent ?? "").replace(/\s+/g, " ");
        const before = node.previousSibling;
        if (before instanceof Text || (before instanceof Comment && before.previousSibling instanceof Text)) {
          lines[lines.length - 1] += text;
        } else if (text.trim()) add(depth, text);
        return;
      }
      if (!(node instanceof Element)) return;
      if (node instanceof HTMLTimeElement) {
        add(depth, "<time>");
        return;
      }
      const isRequestId = node instanceof HTMLInputElement && node.name === "client_request_id";
      const attributes = [...node.attributes].filter(({ name }) => !passing.has(name) && !(isRequestId && name === "value"));
      const shown = attributes.map(({ name, value }) => ` ${name}="${value.replace(/\s+/g, " ").trim()}"`).sort();
      add(depth, `<${node.localName}${shown.join("")}>`);
      for (const child of node.childNodes) visit(child, depth + 1);
    };
    visit(root, 0);
    return lines.map((line) => line.trimEnd()).join("\n");
  });
}

/** What has changed is drawn, and what moves over to it has arrived: colours, for one, go there for a frame. */
export async function waitForPaint(page: Page): Promise<void> {
  await page.evaluate(async () => {
    await new Promise((frame) => requestAnimationFrame(() => requestAnimationFrame(frame)));
    await new Promise((frame) => requestAnimationFrame(() => requestAnimationFrame(frame)));
  });
}
