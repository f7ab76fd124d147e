import type { InstallProfile, InstallProfileFormat } from '@simplane/contract';

const json = 'application/json';

type Picture = { mediaType: string; fileName: string; bytes: Buffer };

/** The picture that `Accept` asks for, or null for JSON. */
export function pictureOf(
  profile: InstallProfile,
  pictures: readonly string[],
  accept: string | undefined,
): Picture | null {
  switch (preferredType(accept, [json, ...pictures])) {
    case 'image/png':
      return {
        mediaType: 'image/png',
        fileName: `esim-${profile.iccid}.png`,
        bytes: bytesOf(profile.qr.png),
      };
    case 'image/svg+xml':
      return {
        mediaType: 'image/svg+xml',
        fileName: `esim-${profile.iccid}.svg`,
        bytes: bytesOf(profile.qr.svg),
      };
    default:
      return null;
  }
}

const formats: Record<string, InstallProfileFormat> = {
  'text/csv': 'csv',
  'application/x-ndjson': 'ndjson',
  'application/zip': 'zip',
};

/** The format that `Accept` asks for. */
export function formatOf(accept: string | undefined): InstallProfileFormat {
  return formats[preferredType(accept, [json, ...Object.keys(formats)])] ?? 'json';
}

/** Whether `Accept` prefers server-sent events to JSON. */
export function prefersStream(accept: string | undefined): boolean {
  return preferredType(accept, [json, 'text/event-stream']) !== json;
}

function bytesOf(dataUri: string): Buffer {
  return Buffer.from(dataUri.slice(dataUri.indexOf(',') + 1), 'base64');
}

type Range = { type: string; quality: number; position: number };

/**
 * RFC 9110 §12.5.1: the most specific range applies to a type; the highest quality wins, then the first listed. If nothing
 * matches, the response is JSON, as in the rest of the API, not a 406.
 */
function preferredType(accept: string | undefined, types: readonly string[]): string {
  const ranges = rangesOf(accept ?? '');
  const [best] = types
    .map((type) => ({ type, range: rangeFor(type, ranges) }))
    .filter(({ range }) => range.quality > 0)
    .sort((a, b) => b.range.quality - a.range.quality || a.range.position - b.range.position);
  return best?.type ?? json;
}

function rangeFor(type: string, ranges: readonly Range[]): Range {
  const family = `${type.split('/', 1)[0]}/*`;
  const [found] = [type, family, '*/*'].flatMap((name) => ranges.filter((range) => range.type === name));
  return found ?? { type, quality: 0, position: 0 };
}

function rangesOf(accept: string): Range[] {
  return accept.split(',').map((text, position) => {
    const [type = '', ...parameters] = text.split(';').map((part) => part.trim().toLowerCase());
    const qualityText = parameters.find((parameter) => parameter.startsWith('q='))?.slice(2) ?? '1';
    // An invalid quality counts as 0, so the response falls back to JSON.
    const quality = /^[01](\.\d*)?$/.test(qualityText) ? Math.min(Number(qualityText), 1) : 0;
    return { type, quality, position };
  });
}
