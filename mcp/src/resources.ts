import { type McpServer, ResourceTemplate, type Variables } from '@modelcontextprotocol/server';
import { openApiDocument } from '@simplane/contract';
import type { Product, Simplane } from '@simplane/sdk';
import { maxAnswerLength } from './bound-answer.ts';
import { orProtocolError } from './protocol-error.ts';

const json = 'application/json';
const png = 'image/png';

/** Resources that a client can attach to a conversation without a tool call. */
export function registerResources(server: McpServer, simplane: Simplane): void {
  server.registerResource(
    'products',
    'simplane://products',
    { title: 'Catalog', description: 'The products that can be provisioned.', mimeType: json },
    ({ href: uri }) => orProtocolError(simplane, async () => textOf(uri, await readCatalog(simplane))),
  );
  server.registerResource(
    'openapi',
    'simplane://openapi.json',
    { title: 'OpenAPI document', description: 'The complete HTTP API as OpenAPI 3.1.', mimeType: json },
    ({ href: uri }) => textOf(uri, openApiDocument()),
  );
  registerInstallProfiles(server, simplane);
}

function registerInstallProfiles(server: McpServer, simplane: Simplane): void {
  // Install profiles are secrets, so they are read one by one and not listed. ICCIDs can be completed.
  const template = (path: string) =>
    new ResourceTemplate(`simplane://esims/{iccid}/${path}`, {
      list: undefined,
      complete: { iccid: (prefix) => completeIccid(simplane, prefix) },
    });
  server.registerResource(
    'install-profile',
    template('install'),
    {
      title: 'Install profile',
      description: 'LPA string and install links of an eSIM. Treat it as a secret.',
      mimeType: json,
    },
    ({ href: uri }, variables) =>
      orProtocolError(
        simplane,
        async () => textOf(uri, await simplane.esims.install(iccidOf(variables))),
        uri,
      ),
  );
  server.registerResource(
    'install-qr',
    template('install.png'),
    {
      title: 'Install QR code',
      description: 'QR code image of an eSIM. Treat it as a secret.',
      mimeType: png,
    },
    ({ href: uri }, variables) =>
      orProtocolError(
        simplane,
        async () => {
          const bytes = await simplane.esims.qr(iccidOf(variables), png);
          return { contents: [{ uri, mimeType: png, blob: Buffer.from(bytes).toString('base64') }] };
        },
        uri,
      ),
  );
}

function textOf(uri: string, value: object) {
  return { contents: [{ uri, mimeType: json, text: JSON.stringify(value) }] };
}

type Catalog = { object: 'list'; data: Product[]; has_more: boolean; note?: string };

async function readCatalog(simplane: Simplane): Promise<Catalog> {
  const data: Product[] = [];
  let length = 0;
  for await (const product of simplane.products.list()) {
    length += JSON.stringify(product).length;
    if (length > maxAnswerLength) {
      const note = `These are the first ${data.length} products. list_products returns all, page by page.`;
      return { object: 'list', data, has_more: true, note };
    }
    data.push(product);
  }
  return { object: 'list', data, has_more: false };
}

async function completeIccid(simplane: Simplane, prefix: string): Promise<string[]> {
  const { data } = await orProtocolError(simplane, () => simplane.esims.list({ limit: 100 }));
  return data.map(({ iccid }) => iccid).filter((iccid) => iccid.startsWith(prefix));
}

function iccidOf({ iccid }: Variables): string {
  return String(iccid);
}
