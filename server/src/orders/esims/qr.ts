import { encode } from 'uqr';
import { encodePng, pixelsPerModule } from './png.ts';

type Picture = { mediaType: 'image/png' | 'image/svg+xml'; bytes: Buffer };

/** A QR code of exactly this text, with error correction M and the border of four light modules that ISO/IEC 18004 requires. */
export function drawQr(text: string): { svg: Picture; png: Picture } {
  const { data: rows } = encode(text, { ecc: 'M', boostEcc: false, border: 4 });
  return {
    svg: { mediaType: 'image/svg+xml', bytes: Buffer.from(svgOf(rows)) },
    png: { mediaType: 'image/png', bytes: encodePng(rows) },
  };
}

export function dataUri({ mediaType, bytes }: Picture): string {
  return `data:${mediaType};base64,${bytes.toString('base64')}`;
}

/** Draws runs of dark modules: one rectangle per module would show hairlines between them when scaled. */
function svgOf(rows: readonly (readonly boolean[])[]): string {
  const size = rows.length;
  const side = size * pixelsPerModule;
  const path = rows.flatMap((row, y) =>
    darkRuns(row).map(([x, width]) => `M${x} ${y}h${width}v1h-${width}z`),
  );
  return (
    `<svg xmlns="http://www.w3.org/2000/svg" width="${side}" height="${side}" viewBox="0 0 ${size} ${size}" ` +
    `shape-rendering="crispEdges"><path fill="#fff" d="M0 0h${size}v${size}H0z"/><path d="${path.join('')}"/></svg>`
  );
}

function darkRuns(row: readonly boolean[]): [start: number, length: number][] {
  const modules = row.map((isDark) => (isDark ? '#' : ' ')).join('');
  return [...modules.matchAll(/#+/g)].map((run) => [run.index, run[0].length]);
}
