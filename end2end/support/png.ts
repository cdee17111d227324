// A minimal PNG codec: 8 bits per channel only.
import { deflateSync, inflateSync, crc32 } from "node:zlib";

/** Three bytes per pixel, row by row. */
export interface Pixels {
  width: number;
  height: number;
  rgb: Buffer;
}

const SIGNATURE = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]);

/** Decodes a PNG in true colour, with or without alpha, which is dropped, or with a palette. */
export function decode(file: Buffer): Pixels {
  if (!file.subarray(0, 8).equals(SIGNATURE)) throw new Error("not a PNG");
  const pieces: Buffer[] = [];
  let [head, palette]: Buffer[] = [Buffer.alloc(0), Buffer.alloc(0)];
  for (let at = 8; at < file.length; ) {
    const length = file.readUInt32BE(at);
    const [kind, body] = [file.toString("latin1", at + 4, at + 8), file.subarray(at + 8, at + 8 + length)];
    if (kind === "IHDR") head = body;
    if (kind === "PLTE") palette = body;
    if (kind === "IDAT") pieces.push(body);
    at += 12 + length;
  }
  const [width, height, depth, colour, interlace] = [head.readUInt32BE(0), head.readUInt32BE(4), head[8], head[9], head[12]];
  if (depth !== 8 || ![2, 3, 6].includes(colour!) || interlace !== 0) throw new Error(`a PNG of another kind: ${depth}, ${colour}`);
  const channels = colour === 6 ? 4 : colour === 3 ? 1 : 3;
  const raw = inflateSync(Buffer.concat(pieces));
  const stride = width * channels;
  const rgb = Buffer.alloc(width * height * 3);
  let before: Buffer = Buffer.alloc(stride);
  for (let y = 0; y < height; y += 1) {
    const row = raw.subarray(y * (stride + 1) + 1, (y + 1) * (stride + 1));
    unfilter(raw[y * (stride + 1)]!, row, before, channels);
    for (let x = 0, to = y * width * 3; x < width; x += 1, to += 3) {
      const from = colour === 3 ? row[x]! * 3 : x * channels;
      const source = colour === 3 ? palette : row;
      rgb[to] = source[from]!;
      rgb[to + 1] = source[from + 1]!;
      rgb[to + 2] = source[from + 2]!;
    }
    before = row;
  }
  return { width, height, rgb };
}

/** Reverses the filter of a row in place. Each kind has its own loop, because there are millions of bytes. */
function unfilter(kind: number, row: Buffer, above: Buffer, channels: number): void {
  const length = row.length;
  if (kind === 1) {
    for (let at = channels; at < length; at += 1) row[at] = row[at]! + row[at - channels]!;
  } else if (kind === 2) {
    for (let at = 0; at < length; at += 1) row[at] = row[at]! + above[at]!;
  } else if (kind === 3) {
    for (let at = 0; at < length; at += 1) row[at] = row[at]! + (((at < channels ? 0 : row[at - channels]!) + above[at]!) >> 1);
  } else if (kind === 4) {
    for (let at = 0; at < length; at += 1) {
      const left = at < channels ? 0 : row[at - channels]!;
      const up = above[at]!;
      const corner = at < channels ? 0 : above[at - channels]!;
      const a = Math.abs(up - corner);
      const b = Math.abs(left - corner);
      const c = Math.abs(left + up - 2 * corner);
      row[at] = row[at]! + (a <= b && a <= c ? left : b <= c ? up : corner);
    }
  }
}

/** Encodes pixels as a PNG, with a palette where there are at most 256 colours. */
export function encode({ width, height, rgb }: Pixels): Buffer {
  const places = new Map<number, number>();
  const indices = Buffer.alloc(width * height);
  for (let at = 0; at < indices.length && places.size <= 256; at += 1) {
    const colour = rgb.readUIntBE(at * 3, 3);
    if (!places.has(colour)) places.set(colour, places.size);
    indices[at] = places.get(colour)! & 0xff;
  }
  const isFew = places.size <= 256;
  const [pixels, bytes] = isFew ? [indices, 1] : [rgb, 3];
  const rows = Array.from({ length: height }, (_, y) => {
    const row = pixels.subarray(y * width * bytes, (y + 1) * width * bytes);
    // A palette deflates best unfiltered; true colour as differences from the row above.
    if (isFew || y === 0) return Buffer.concat([Buffer.from([0]), row]);
    const above = pixels.subarray((y - 1) * width * bytes, y * width * bytes);
    return Buffer.concat([Buffer.from([2]), Buffer.from(row.map((value, at) => value - above[at]!))]);
  });
  const head = Buffer.alloc(13);
  head.writeUInt32BE(width, 0);
  head.writeUInt32BE(height, 4);
  head.set([8, isFew ? 3 : 2, 0, 0, 0], 8);
  const palette = Buffer.concat([...places.keys()].slice(0, 256).map((colour) => Buffer.from([colour >> 16, (colour >> 8) & 0xff, colour & 0xff])));
  const chunks = [chunk("IHDR", head), ...(isFew ? [chunk("PLTE", palette)] : []), chunk("IDAT", deflateSync(Buffer.concat(rows), { level: 9 })), chunk("IEND", Buffer.alloc(0))];
  return Buffer.concat([SIGNATURE, ...chunks]);
}

function chunk(kind: string, body: Buffer): Buffer {
  const named = Buffer.concat([Buffer.from(kind, "latin1"), body]);
  const [length, sum] = [Buffer.alloc(4), Buffer.alloc(4)];
  length.writeUInt32BE(body.length);
  sum.writeUInt32BE(crc32(named));
  return Buffer.concat([length, named, sum]);
}
