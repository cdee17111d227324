// Files that tests bring: chosen, dropped and pasted.
import { deflateSync, crc32 } from "node:zlib";

import type { Locator, Page } from "@playwright/test";

export interface TestFile {
  name: string;
  mimeType: string;
  buffer: Buffer;
}

export function text(name: string, content: string): TestFile {
  return { name, mimeType: "text/plain", buffer: Buffer.from(content) };
}

/** A picture of one colour. */
export function png(name: string, width = 64, height = 32, colour = [40, 120, 60]): TestFile {
  const chunk = (kind: string, data: Buffer) => {
    const body = Buffer.concat([Buffer.from(kind, "latin1"), data]);
    const out = Buffer.alloc(body.length + 8);
    out.writeUInt32BE(data.length, 0);
    body.copy(out, 4);
    out.writeUInt32BE(crc32(body), out.length - 4);
    return out;
  };
  const head = Buffer.alloc(13);
  head.writeUInt32BE(width, 0);
  head.writeUInt32BE(height, 4);
  head.set([8, 2, 0, 0, 0], 8);
  const row = Buffer.concat([Buffer.from([0]), ...Array.from({ length: width }, () => Buffer.from(colour))]);
  const rows = Buffer.concat(Array.from({ length: height }, () => row));
  const signature = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]);
  const buffer = Buffer.concat([signature, chunk("IHDR", head), chunk("IDAT", deflateSync(rows)), chunk("IEND", Buffer.alloc(0))]);
  return { name, mimeType: "image/png", buffer };
}

/** Chooses files with the button. */
export async function attach(page: Page, ...files: TestFile[]): Promise<void> {
  await page.getByLabel("Attach files").setInputFiles(files);
}

/** The attachments of the message that is written. */
export function attached(page: Page): Locator {
  return page.getByRole("list", { name: "Attached" }).getByRole("listitem");
}

/** Dispatches an event that carries files or text, as the browser does when they are dropped or pasted. */
export async function bring(page: Page, selector: string, event: "dragover" | "drop" | "paste", files: TestFile[], words = ""): Promise<void> {
  const all = files.map(({ name, mimeType, buffer }) => ({ name, mimeType, bytes: buffer.toString("base64") }));
  await page.locator(selector).first().evaluate((target, { event, all, words }) => {
    const data = new DataTransfer();
    for (const { name, mimeType, bytes } of all) {
      data.items.add(new File([Uint8Array.from(atob(bytes), (c) => c.charCodeAt(0))], name, { type: mimeType }));
    }
    if (words) data.setData("text/plain", words);
    const init = { bubbles: true, cancelable: true };
    const made = event === "paste"
      ? new ClipboardEvent(event, { ...init, clipboardData: data })
      : new DragEvent(event, { ...init, dataTransfer: data });
    const goesOn = target.dispatchEvent(made);
    // What the browser does by itself with a paste that nobody took.
    if (event === "paste" && goesOn && words) document.execCommand("insertText", false, words);
  }, { event, all, words });
}
