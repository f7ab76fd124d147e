import { type McpServer, ResourceTemplate, type Variables } from '@modelcontextprotocol/server';
import { openApiDocument } from '@simplane/contract';
import type { Product, Simplane } from '@simplane/sdk';
import { orProtocolError } from './protocol-error.ts';

const json = 'application/json';
const png = 'image/png';

/** What a client may attach to a conversation without a tool call. */
export function registerResources(server: McpServer, simplane: Simplane): void {
  server.registerResource(
    'products',
    'simplane://products',
    { title: 'Catalog', description: 'Every product that can be provisioned.', mimeType: json },
    ({ href: uri }) =>
      orProtocolError(simplane, async () =>
        textOf(uri, { object: 'list', data: await everyProduct(simplane) }),
      ),
  );
  server.registerResource(
    'openapi',
    'simplane://openapi.json',
    { title: 'OpenAPI document', description: 'The whole HTTP API, OpenAPI 3.1.', mimeType: json },
    ({ href: uri }) => textOf(uri, openApiDocument()),
  );
  registerInstallProfiles(server, simplane);
}

function registerInstallProfiles(server: McpServer, simplane: Simplane): void {
  // Not listed: who may see one eSIM’s secret asks for that one. Its ICCID can be completed.
  const template = (path: string) =>
    new ResourceTemplate(`simplane://esims/{iccid}/${path}`, {
      list: undefined,
      complete: { iccid: (begun) => iccidsLike(simplane, begun) },
    });
  server.registerResource(
    'install-profile',
    template('install'),
    {
      title: 'Install profile',
      description: 'LPA string and install links of one eSIM. A secret.',
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
      description: 'The QR code of one eSIM as a picture. A secret.',
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

// A catalog is a few hundred products; this is the bound for one that is not.
const catalogAtMost = 1_000;

async function everyProduct(simplane: Simplane): Promise<Product[]> {
  const products: Product[] = [];
  for await (const product of simplane.products.list()) {
    products.push(product);
    if (products.length === catalogAtMost) break;
  }
  return products;
}

async function iccidsLike(simplane: Simplane, begun: string): Promise<string[]> {
  const { data } = await orProtocolError(simplane, () => simplane.esims.list({ limit: 100 }));
  return data.map(({ iccid }) => iccid).filter((iccid) => iccid.startsWith(begun));
}

function iccidOf({ iccid }: Variables): string {
  return String(iccid);
}
