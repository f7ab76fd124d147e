import { type McpServer, ResourceTemplate, type Variables } from '@modelcontextprotocol/server';
import { openApiDocument } from '@simplane/contract';
import type { Product, Simplane } from '@simplane/sdk';
import { orProtocolError } from './protocol-error.ts';

const json = 'application/json';
const png = 'image/png';

/** Resources that a client can attach to a conversation without a tool call. */
export function registerResources(server: McpServer, simplane: Simplane): void {
  server.registerResource(
    'products',
    'simplane://products',
    { title: 'Catalog', description: 'All products that can be provisioned.', mimeType: json },
    ({ href: uri }) =>
      orProtocolError(simplane, async () =>
        textOf(uri, { object: 'list', data: await allProducts(simplane) }),
      ),
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

// Catalogs usually have a few hundred products.
const maxCatalogSize = 1_000;

async function allProducts(simplane: Simplane): Promise<Product[]> {
  const products: Product[] = [];
  for await (const product of simplane.products.list()) {
    products.push(product);
    if (products.length === maxCatalogSize) break;
  }
  return products;
}

async function completeIccid(simplane: Simplane, prefix: string): Promise<string[]> {
  const { data } = await orProtocolError(simplane, () => simplane.esims.list({ limit: 100 }));
  return data.map(({ iccid }) => iccid).filter((iccid) => iccid.startsWith(prefix));
}

function iccidOf({ iccid }: Variables): string {
  return String(iccid);
}
