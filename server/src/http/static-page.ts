import { createHash } from 'node:crypto';
import { promisify } from 'node:util';
import { brotliCompress, constants, gzip } from 'node:zlib';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { chooseEncoding, type Encoding } from './choose-encoding.ts';

type Variant = { bytes: Buffer; etag: string };
type Page = Record<Encoding, Variant>;

type Options = {
  type: string;
  headers?: Record<string, string>;
  /** The page is rendered again if this changes. */
  version(): string;
  render(version: string): string;
};

/**
 * A page that is the same for every client. It is rendered and compressed on the first request. All responses share the same
 * buffers, so an unread response costs only its headers.
 */
export function staticPage({ type, headers = {}, version, render }: Options) {
  let cached: { version: string; page: Promise<Page> } | null = null;

  function pageOf(wanted: string): Promise<Page> {
    if (cached?.version === wanted) return cached.page;
    const page = compress(render(wanted));
    const entry = { version: wanted, page };
    cached = entry;
    page.catch(() => {
      if (cached === entry) cached = null; // the next request tries again
    });
    return page;
  }

  return async (request: FastifyRequest, reply: FastifyReply) => {
    const page = await pageOf(version());
    const encoding = chooseEncoding(request.headers['accept-encoding']);
    const { bytes, etag } = page[encoding];
    reply.headers({ ...headers, ETag: etag, Vary: 'Accept-Encoding', 'Cache-Control': 'no-cache' });
    if (isCurrent(request.headers['if-none-match'], etag)) return reply.code(304).send();
    if (encoding !== 'identity') reply.header('Content-Encoding', encoding);
    return reply.type(type).send(bytes);
  };
}

async function compress(text: string): Promise<Page> {
  const bytes = Buffer.from(text);
  const [br, gzipped] = await Promise.all([
    // For the reference page (413 kB), quality 6 takes 5 ms and gives 23 kB; 11 takes 324 ms and gives 20 kB.
    promisify(brotliCompress)(bytes, {
      params: { [constants.BROTLI_PARAM_QUALITY]: 6, [constants.BROTLI_PARAM_SIZE_HINT]: bytes.length },
    }),
    promisify(gzip)(bytes, { level: 9 }),
  ]);
  const hash = createHash('sha256').update(bytes).digest('base64url').slice(0, 22);
  return {
    br: { bytes: br, etag: `"${hash}-br"` },
    gzip: { bytes: gzipped, etag: `"${hash}-gzip"` },
    identity: { bytes, etag: `"${hash}"` },
  };
}

/** RFC 9110 §13.1.2: any tag in the list matches, weak or not. */
function isCurrent(ifNoneMatch: string | undefined, etag: string): boolean {
  if (ifNoneMatch === undefined) return false;
  if (ifNoneMatch.trim() === '*') return true;
  return ifNoneMatch.split(',').some((tag) => tag.trim().replace(/^W\//, '') === etag);
}
