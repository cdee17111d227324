// A generated TrueType font in which every letter is a box. Pages in this font look the same on every machine,
// independent of installed fonts and text rendering, and a text matters only by its length.

const EM = 1000;
const [ASCENT, DESCENT] = [800, 200];
/** Advance width of each glyph, and whether it has a box: missing, nothing, space, letter, wide letter. */
const GLYPHS: [advance: number, isBox: boolean][] = [[500, true], [0, false], [250, false], [500, true], [1000, true]];
const [NOTHING, SPACE, LETTER, WIDE] = [1, 2, 3, 4];

/** The glyph from each character on; zero-width and direction characters have no glyph. */
const FROM: [character: number, glyph: number][] = [
  [0x00, NOTHING], [0x20, SPACE], [0x21, LETTER], [0x7f, NOTHING], [0xa0, SPACE], [0xa1, LETTER], [0x300, NOTHING],
  [0x370, LETTER], [0x2000, SPACE], [0x200b, NOTHING], [0x2010, LETTER], [0x2028, NOTHING], [0x202f, SPACE],
  [0x2030, LETTER], [0x2060, NOTHING], [0x2070, LETTER], [0x2e80, WIDE], [0xa000, LETTER], [0xac00, WIDE],
  [0xd800, NOTHING], [0xf900, WIDE], [0xfb00, LETTER], [0xfe00, NOTHING], [0xfe10, WIDE], [0xfe70, LETTER],
  [0xfeff, NOTHING], [0xff00, WIDE], [0x10000, LETTER], [0x1f000, WIDE], [0xe0000, NOTHING],
];
const LAST = 0x10ffff;

const u16 = (...values: number[]): Buffer => {
  const bytes = Buffer.alloc(2 * values.length);
  values.forEach((value, at) => bytes.writeUInt16BE(value & 0xffff, 2 * at));
  return bytes;
};
const u32 = (...values: number[]): Buffer => {
  const bytes = Buffer.alloc(4 * values.length);
  values.forEach((value, at) => bytes.writeUInt32BE(value >>> 0, 4 * at));
  return bytes;
};

/** Builds the outline of a box from the baseline to the x-height, with a small margin on both sides. */
function box(advance: number): Buffer {
  const [left, right, top] = [40, advance - 40, 520];
  const head = u16(1, left, 0, right, top, 3, 0);
  // Four points of the outline as 16-bit deltas: first x, then y.
  return Buffer.concat([head, Buffer.from([1, 1, 1, 1]), u16(left, 0, right - left, 0), u16(0, top, 0, -top)]);
}

function cmap(): Buffer {
  const groups = FROM.map(([first, glyph], at) => {
    const last = at + 1 < FROM.length ? FROM[at + 1]![0] - 1 : LAST;
    return u32(first, last, glyph);
  });
  // Format 13: all characters of a group share one glyph.
  const table = Buffer.concat([u16(13, 0), u32(16 + 12 * groups.length, 0, groups.length), ...groups]);
  return Buffer.concat([u16(0, 1, 3, 10), u32(12), table]);
}

function name(): Buffer {
  const words: [id: number, text: string][] = [[1, "Boxes"], [2, "Regular"], [3, "Boxes"], [4, "Boxes"], [5, "1.0"], [6, "Boxes"]];
  const texts = words.map(([, text]) => Buffer.from(text, "utf16le").swap16());
  let at = 0;
  const records = words.map(([id], index) => {
    const length = texts[index]!.length;
    const record = u16(3, 1, 0x409, id, length, at);
    at += length;
    return record;
  });
  return Buffer.concat([u16(0, words.length, 6 + 12 * words.length), ...records, ...texts]);
}

function os2(): Buffer {
  const widths = u16(4, 500, 400, 5, 0, 650, 600, 0, 75, 650, 600, 0, 350, 50, 300, 0);
  const rest = Buffer.concat([Buffer.alloc(10), u32(1, 0, 0, 0), Buffer.from("NONE"), u16(0x40, 0x20, 0xffff)]);
  const heights = Buffer.concat([u16(ASCENT, -DESCENT, 0, ASCENT, DESCENT), u32(1, 0), u16(520, 700, 0, 0x20, 1)]);
  return Buffer.concat([widths, rest, heights]);
}

/** Returns the bytes of the font file. */
export function boxFont(): Buffer {
  const glyphs = GLYPHS.map(([advance, isBox]) => (isBox ? box(advance) : Buffer.alloc(0)));
  const offsets = glyphs.reduce((all, glyph) => [...all, all.at(-1)! + glyph.length], [0]);
  const head = Buffer.concat([
    u32(0x10000, 0x10000, 0, 0x5f0f3cf5), u16(0, EM), Buffer.alloc(16), u16(0, 0, EM, 520, 0, 8, 2, 1, 0),
  ]);
  const hhea = Buffer.concat([u32(0x10000), u16(ASCENT, -DESCENT, 0, 1000, 0, 0, 1000, 1, 0, 0, 0, 0, 0, 0, 0, GLYPHS.length)]);
  const maxp = Buffer.concat([u32(0x10000), u16(GLYPHS.length, 4, 1, 0, 0, 2, 0, 0, 0, 0, 0, 0, 0, 0)]);
  const tables: [tag: string, bytes: Buffer][] = [
    ["OS/2", os2()], ["cmap", cmap()], ["glyf", Buffer.concat(glyphs)], ["head", head], ["hhea", hhea],
    ["hmtx", Buffer.concat(GLYPHS.map(([advance, isBox]) => u16(advance, isBox ? 40 : 0)))],
    ["loca", u32(...offsets)], ["maxp", maxp], ["name", name()],
    ["post", Buffer.concat([u32(0x30000, 0), u16(-100, 50), u32(0, 0, 0, 0, 0)])],
  ];
  const padded = (bytes: Buffer) => Buffer.concat([bytes, Buffer.alloc((4 - (bytes.length % 4)) % 4)]);
  let at = 12 + 16 * tables.length;
  const directory = tables.map(([tag, bytes]) => {
    const sum = padded(bytes).reduce((sum, byte, at) => (sum + byte * 2 ** (24 - 8 * (at % 4))) % 2 ** 32, 0);
    const entry = Buffer.concat([Buffer.from(tag), u32(sum, at, bytes.length)]);
    at += padded(bytes).length;
    return entry;
  });
  const header = Buffer.concat([u32(0x10000), u16(tables.length, 128, 3, 16 * tables.length - 128)]);
  return Buffer.concat([header, ...directory, ...tables.map(([, bytes]) => padded(bytes))]);
}
