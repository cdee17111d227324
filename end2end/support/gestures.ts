// Counts what a person does on a page: presses of the mouse or a finger, and presses of keys, of which a typed text is
// one. The page counts by itself, and the count survives navigations within the tab.
import { readFileSync } from "node:fs";

import type { Page } from "@playwright/test";

import { expect, test } from "./fixtures.ts";

/** The key of the count in the session storage of the tab. */
const STORED = "test-gestures";
const COMPARISON = new URL("../../docs/comparison.md", import.meta.url);

export interface GestureCount {
  clicks: number;
  keys: number;
  /** Clicks in the upper third of the window, which a thumb hardly reaches on a phone. */
  high: number;
}

/** Returns the most clicks and keys that a row of the table in docs/comparison.md allows Turnleaf. */
function allowedBy(row: string): Pick<GestureCount, "clicks" | "keys"> {
  const line = readFileSync(COMPARISON, "utf8").split("\n").find((line) => line.startsWith(`| ${row} |`));
  const found = /^(\d+) \+ (\d+)$/.exec(line?.split("|")[3]?.trim() ?? "");
  if (!found) throw new Error(`docs/comparison.md has no figures for row ${row}`);
  return { clicks: Number(found[1]), keys: Number(found[2]) };
}

export class GestureCounter {
  private began = Date.now();

  private constructor(private readonly page: Page) {}

  /** Makes the pages of the tab count; called before the first one is opened. */
  static async install(page: Page): Promise<GestureCounter> {
    await page.addInitScript((stored) => {
      // Frames of an opaque origin have no storage.
      if (window !== window.top) return;
      const change = (act: (count: GestureCount & { isTyping: boolean }) => void) => {
        const count = JSON.parse(sessionStorage.getItem(stored) ?? '{"clicks":0,"keys":0,"high":0,"isTyping":false}');
        act(count);
        sessionStorage.setItem(stored, JSON.stringify(count));
      };
      const modifiers = ["Control", "Shift", "Alt", "Meta"];
      addEventListener("pointerdown", (event) => {
        if (!event.isTrusted || !event.isPrimary) return;
        change((count) => {
          count.clicks += 1;
          if (event.clientY < innerHeight / 3) count.high += 1;
          count.isTyping = false;
        });
      }, true);
      addEventListener("keydown", (event) => {
        if (!event.isTrusted || event.isComposing || modifiers.includes(event.key)) return;
        const isChord = event.ctrlKey || event.metaKey || event.altKey;
        const isInField = event.target instanceof Element && event.target.matches("input, textarea");
        // A letter in a field is counted with the text that it becomes part of.
        if (event.key.length === 1 && !isChord && isInField) return;
        change((count) => {
          count.keys += 1;
          count.isTyping = false;
        });
      }, true);
      // Input methods write without a key.
      addEventListener("input", (event) => {
        if (!event.isTrusted || !/^insert(?!LineBreak|Paragraph|From)/.test((event as InputEvent).inputType ?? "")) return;
        change((count) => {
          if (!count.isTyping) count.keys += 1;
          count.isTyping = true;
        });
      }, true);
    }, STORED);
    return new GestureCounter(page);
  }

  /** Counts from now on; what prepared the journey does not count. */
  async start(): Promise<void> {
    await this.page.evaluate((stored) => sessionStorage.removeItem(stored), STORED);
    this.began = Date.now();
  }

  async count(): Promise<GestureCount> {
    const stored = await this.page.evaluate((stored) => sessionStorage.getItem(stored), STORED);
    const { clicks, keys, high } = stored ? JSON.parse(stored) : { clicks: 0, keys: 0, high: 0 };
    return { clicks, keys, high };
  }

  /** Ends the journey of this row of the table: reports its figures and asserts that it needed no more than allowed. */
  async expectWithin(row: string): Promise<void> {
    const seconds = Number(((Date.now() - this.began) / 1000).toFixed(1));
    const counted = await this.count();
    await test.info().attach(`journey ${row}`, { body: JSON.stringify({ ...counted, seconds }), contentType: "application/json" });
    console.log(`journey ${row}: ${counted.clicks} clicks (${counted.high} high), ${counted.keys} keys, ${seconds} s`);
    const allowed = allowedBy(row);
    expect(counted.clicks, `clicks of journey ${row}`).toBeLessThanOrEqual(allowed.clicks);
    expect(counted.keys, `keys of journey ${row}`).toBeLessThanOrEqual(allowed.keys);
  }
}
