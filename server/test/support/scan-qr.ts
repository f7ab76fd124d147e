import jsqr from 'jsqr';
import { PNG } from 'pngjs';

export type Image = { width: number; height: number; data: Uint8ClampedArray };

export function fromPng(bytes: Uint8Array): Image {
  const { width, height, data } = PNG.sync.read(Buffer.from(bytes));
  return { width, height, data: new Uint8ClampedArray(data) };
}

/** Reads the code as a phone's camera would. */
export function decode({ data, width, height }: Image) {
  const found = jsqr.default(data, width, height);
  if (!found) throw new Error('no QR code was found in the picture');
  return found;
}
