// Test files: chosen, dropped and pasted.
import { deflateSync, crc32 } from "node:zlib";

import type { Locator, Page } from "@playwright/test";

export interface TestFile {
  name: string;
  mimeType: string;
  buffer: Buffer;
}

export function textFile(name: string, content: string): TestFile {
  return { name, mimeType: "text/plain", buffer: Buffer.from(content) };
}

/** Builds a PNG of one colour. */
export function pngFile(name: string, width = 64, height = 32, colour = [40, 120, 60]): TestFile {
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

/** Builds a ZIP archive of these files, stored without compression. */
export function zipFile(name: string, files: [name: string, bytes: Buffer | string][]): TestFile {
  const parts: Buffer[] = [];
  const directory: Buffer[] = [];
  let at = 0;
  for (const [called, content] of files) {
    const [title, bytes] = [Buffer.from(called), Buffer.from(content)];
    const head = Buffer.alloc(26);
    head.writeUInt16LE(20, 0);
    head.writeUInt32LE(crc32(bytes), 10);
    head.writeUInt32LE(bytes.length, 14);
    head.writeUInt32LE(bytes.length, 18);
    head.writeUInt16LE(title.length, 22);
    const entry = Buffer.concat([Buffer.from("PK\x03\x04", "latin1"), head, title, bytes]);
    const place = Buffer.alloc(14);
    place.writeUInt32LE(at, 10);
    directory.push(Buffer.from("PK\x01\x02\x14\0", "latin1"), head, place, title);
    parts.push(entry);
    at += entry.length;
  }
  const list = Buffer.concat(directory);
  const end = Buffer.alloc(18);
  end.writeUInt16LE(files.length, 4);
  end.writeUInt16LE(files.length, 6);
  end.writeUInt32LE(list.length, 8);
  end.writeUInt32LE(at, 12);
  const buffer = Buffer.concat([...parts, list, Buffer.from("PK\x05\x06", "latin1"), end]);
  return { name, mimeType: "application/zip", buffer };
}

/** Builds a PDF of one page with these lines. */
export function pdfFile(name: string, lines: string[]): TestFile {
  const shown = lines.map((line) => `(${line.replace(/[\\()]/g, "\\$&")}) Tj 0 -20 Td`).join("\n");
  const content = `BT /F1 12 Tf 72 720 Td\n${shown}\nET`;
  const objects = [
    "<< /Type /Catalog /Pages 2 0 R >>",
    "<< /Type /Pages /Kids [3 0 R] /Count 1 >>",
    "<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Contents 4 0 R /Resources << /Font << /F1 5 0 R >> >> >>",
    `<< /Length ${content.length} >>\nstream\n${content}\nendstream`,
    "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding /WinAnsiEncoding >>",
  ];
  let out = "%PDF-1.4\n";
  const places = objects.map((object, at) => {
    const place = out.length;
    out += `${at + 1} 0 obj\n${object}\nendobj\n`;
    return place;
  });
  const table = places.map((place) => `${String(place).padStart(10, "0")} 00000 n \n`).join("");
  const count = objects.length + 1;
  const start = out.length;
  out += `xref\n0 ${count}\n0000000000 65535 f \n${table}trailer\n<< /Size ${count} /Root 1 0 R >>\nstartxref\n${start}\n%%EOF\n`;
  return { name, mimeType: "application/pdf", buffer: Buffer.from(out, "latin1") };
}

/** Chooses files with the attach button. */
export async function attachFiles(page: Page, ...files: TestFile[]): Promise<void> {
  await page.getByLabel("Attach files").setInputFiles(files);
}

/** Returns the attachments of the draft. */
export function attachmentChips(page: Page): Locator {
  return page.getByRole("list", { name: "Attachments" }).getByRole("listitem");
}

/** Dispatches an event that carries files or text, as the browser does when they are dropped or pasted. */
export async function dispatchFiles(page: Page, selector: string, event: "dragover" | "drop" | "paste", files: TestFile[], words = ""): Promise<void> {
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
    // The browser's default action for a paste that no handler cancelled.
    if (event === "paste" && goesOn && words) document.execCommand("insertText", false, words);
  }, { event, all, words });
}
