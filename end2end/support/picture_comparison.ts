// Visual comparison: each approved picture is stored as a map, the colour of every square of 8 pixels in few shades.
// Two maps match when each square of one lies within the range of the other's squares there and next to it: edges may
// be rendered differently, but nothing may have moved by more than a square, appeared or disappeared.
import type { Pixels } from "./png.ts";

/** The side of a square, in pixels. */
export const SQUARE = 8;
/** The distance between two shades of a channel. */
const SHADE = 8;
/** The most by which a channel may differ from the approved picture. */
const TOLERANCE = 20;
/** The number of squares that may differ: an area smaller than the smallest button. */
const STRAYS = 4;

/** Returns the map of a picture. */
export function mapOf(picture: Pixels, square = SQUARE, shade = SHADE): Pixels {
  const [width, height] = [Math.ceil(picture.width / square), Math.ceil(picture.height / square)];
  const sums = new Float64Array(width * height * 3);
  for (let y = 0, from = 0; y < picture.height; y += 1) {
    for (let x = 0; x < picture.width; x += 1, from += 3) {
      const to = (Math.floor(y / square) * width + Math.floor(x / square)) * 3;
      sums[to]! += picture.rgb[from]!;
      sums[to + 1]! += picture.rgb[from + 1]!;
      sums[to + 2]! += picture.rgb[from + 2]!;
    }
  }
  const extent = (at: number, whole: number) => Math.min(square, whole - at * square);
  const shadeOf = (sum: number, at: number) => {
    const place = Math.floor(at / 3);
    const count = extent(place % width, picture.width) * extent(Math.floor(place / width), picture.height);
    return Math.min(255, Math.round(sum / count / shade) * shade);
  };
  const rgb = Buffer.from(sums.map(shadeOf));
  return { width, height, rgb };
}

export interface Comparison {
  /** The difference in words; undefined where the maps match. */
  wrong?: string;
  /** The approved map, faded, with differing squares in red. */
  difference: Pixels;
}

/** Compares two maps. */
export function comparePictures(approved: Pixels, seen: Pixels): Comparison {
  const [width, height] = [Math.max(approved.width, seen.width), Math.max(approved.height, seen.height)];
  const difference = { width, height, rgb: Buffer.alloc(width * height * 3, 0xff) };
  let strays = 0;
  for (let y = 0; y < height; y += 1) {
    for (let x = 0; x < width; x += 1) {
      const at = (y * width + x) * 3;
      const differs = !isWithin(seen, approved, x, y) || !isWithin(approved, seen, x, y);
      if (differs) strays += 1;
      for (let channel = 0; channel < 3; channel += 1) {
        const was = x < approved.width && y < approved.height ? approved.rgb[(y * approved.width + x) * 3 + channel]! : 0xff;
        difference.rgb[at + channel] = differs ? [0xd0, 0, 0][channel]! : 0xc0 + (was >> 2);
      }
    }
  }
  if (Math.abs(approved.width - seen.width) > 1 || Math.abs(approved.height - seen.height) > 1) {
    const size = ({ width, height }: Pixels) => `${width * SQUARE} × ${height * SQUARE}`;
    return { wrong: `the picture is ${size(seen)}, approved is ${size(approved)}`, difference };
  }
  if (strays > STRAYS) return { wrong: `${strays} of ${width * height} squares differ`, difference };
  return { difference };
}

/**
 * Returns whether a square of one map lies between the lightest and the darkest square around the same place of the
 * other.
 */
function isWithin(one: Pixels, other: Pixels, x: number, y: number): boolean {
  if (x >= one.width || y >= one.height) return true;
  for (let channel = 0; channel < 3; channel += 1) {
    const value = one.rgb[(y * one.width + x) * 3 + channel]!;
    let [least, most] = [255, 0];
    for (let j = Math.max(0, y - 1); j <= Math.min(other.height - 1, y + 1); j += 1) {
      for (let i = Math.max(0, x - 1); i <= Math.min(other.width - 1, x + 1); i += 1) {
        const near = other.rgb[(j * other.width + i) * 3 + channel]!;
        if (near < least) least = near;
        if (near > most) most = near;
      }
    }
    if (value < least - TOLERANCE || value > most + TOLERANCE) return false;
  }
  return true;
}
