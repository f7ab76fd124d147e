import { readdir, readFile } from 'node:fs/promises';
import { extname } from 'node:path';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { AppError } from '../../platform/app-error.ts';
import { chooseEncoding } from '../choose-encoding.ts';

const folder = new URL('../../../../dashboard/dist/', import.meta.url);

const types: Record<string, string> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
};

/** Only our own files: no inline script, no other host. Pictures may be data, as QR codes are. */
const pageHeaders = {
  'Content-Security-Policy':
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; " +
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
  'Cross-Origin-Opener-Policy': 'same-origin',
  'Referrer-Policy': 'no-referrer',
};

type File = { type: string; identity: Buffer; gzip: Buffer | null; br: Buffer | null };

/** The built page. Files under `assets/` have a hash in their names, so browsers keep them for good. */
export function serveFiles(app: FastifyInstance): void {
  let loading: Promise<Map<string, File>> | null = null;

  app.get('/dashboard/assets/*', async (request, reply) => {
    const name = `assets/${(request.params as { '*': string })['*']}`;
    const file = (await files()).get(name);
    if (!file) throw new AppError('route_missing', 'There is no such file; reload the page.');
    reply.header('Cache-Control', 'public, max-age=31536000, immutable');
    return send(request, reply, file);
  });
  for (const url of ['/dashboard', '/dashboard/*']) {
    app.get(url, async (request, reply) => {
      if (request.url.startsWith('/dashboard/api')) {
        throw new AppError('route_missing', 'There is no such route; /docs lists all routes.');
      }
      const page = (await files()).get('index.html');
      if (!page) throw notBuilt();
      reply.headers({ ...pageHeaders, 'Cache-Control': 'no-cache' });
      return send(request, reply, page);
    });
  }

  function files(): Promise<Map<string, File>> {
    loading ??= readFiles().catch((error) => {
      loading = null; // it may be built meanwhile
      throw error;
    });
    return loading;
  }
}

function send(request: FastifyRequest, reply: FastifyReply, file: File) {
  const encoding = chooseEncoding(request.headers['accept-encoding']);
  const compressed = encoding === 'identity' ? null : file[encoding];
  if (compressed) reply.header('Content-Encoding', encoding);
  return reply
    .header('Vary', 'Accept-Encoding')
    .type(file.type)
    .send(compressed ?? file.identity);
}

async function readFiles(): Promise<Map<string, File>> {
  const names = await readdir(folder, { recursive: true }).catch(() => Promise.reject(notBuilt()));
  const read = (name: string) => readFile(new URL(name, folder));
  const files = new Map<string, File>();
  for (const name of names) {
    const type = types[extname(name)];
    if (type === undefined) continue;
    const [identity, gzip, br] = await Promise.all([
      read(name),
      names.includes(`${name}.gz`) ? read(`${name}.gz`) : null,
      names.includes(`${name}.br`) ? read(`${name}.br`) : null,
    ]);
    files.set(name, { type, identity, gzip, br });
  }
  return files;
}

function notBuilt(): AppError {
  return new AppError(
    'unavailable',
    'The dashboard is not built here: run `npm run build` and open it again.',
  );
}
