// Serializes rendered turns for comparison, without what may differ between two renderings of the same turn: open
// state, times, the ids of form fields, and the framework's markers.
import type { Locator, Page } from "@playwright/test";

/** Returns one line for each element and each text, indented by depth. */
export function outline(turn: Locator): Promise<string> {
  return turn.evaluate((root) => {
    const passing = new Set(["open", "data-preview", "aria-expanded", "hidden", "inert", "tabindex", "style", "data-hk", "nonce"]);
    const lines: string[] = [];
    const add = (depth: number, text: string) => lines.push("  ".repeat(depth) + text);
    const visit = (node: Node, depth: number) => {
      if (node instanceof Text) {
        // Adjacent text nodes are one text: the server may split them differently.
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

/** Waits until changes are painted and transitions, such as those of colours, have ended. */
export async function waitForPaint(page: Page): Promise<void> {
  await page.evaluate(async () => {
    await new Promise((frame) => requestAnimationFrame(() => requestAnimationFrame(frame)));
    await new Promise((frame) => requestAnimationFrame(() => requestAnimationFrame(frame)));
  });
}
