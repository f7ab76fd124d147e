import { createPrivateKey, type KeyObject, X509Certificate } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { createSecureContext } from 'node:tls';

/** A file and the setting that names it. Every error message has both. */
export type NamedFile = { setting: string; path: string };

export type Identity = {
  /** PEM of the certificate and the rest of its chain, if the file has it. */
  cert: string;
  key: string;
  endsAt: Date;
};

/** Our certificate for mutual TLS. A bad file fails at startup, with its name, and not at the first handshake. */
export async function readIdentity(
  certFile: NamedFile,
  keyFile: NamedFile,
  now = new Date(),
): Promise<Identity> {
  const [cert, key] = await Promise.all([read(certFile), read(keyFile)]);
  const [own] = parseCertificates(cert, certFile) as [X509Certificate];
  const startsAt = new Date(own.validFrom);
  const endsAt = new Date(own.validTo);
  if (endsAt <= now) throw fileError(certFile, `the certificate expired on ${dayOf(endsAt)}; replace it`);
  if (startsAt > now) {
    throw fileError(certFile, `the certificate is not valid before ${dayOf(startsAt)}; check the clock`);
  }
  if (!own.checkPrivateKey(parseKey(key, keyFile))) {
    throw fileError(keyFile, `the key does not belong to the certificate in ${certFile.path}`);
  }
  try {
    createSecureContext({ cert, key });
  } catch (error) {
    throw fileError(certFile, `cannot be used: ${(error as NodeJS.ErrnoException).code ?? 'unknown reason'}`);
  }
  return { cert, key, endsAt };
}

export type Authorities = { pem: string; endsAt: Date };

/** The certificate authorities we trust. At least one must not be expired; `endsAt` is the end of the last. */
export async function readAuthorities(file: NamedFile, now = new Date()): Promise<Authorities> {
  const pem = await read(file);
  const ends = parseCertificates(pem, file).map(({ validTo }) => new Date(validTo));
  const last = new Date(Math.max(...ends.map(Number)));
  if (last <= now) throw fileError(file, `the last of its certificates expired on ${dayOf(last)}`);
  return { pem, endsAt: last };
}

export function dayOf(date: Date): string {
  return date.toISOString().slice(0, 10);
}

async function read(file: NamedFile): Promise<string> {
  try {
    return await readFile(file.path, 'utf8');
  } catch (error) {
    throw fileError(file, `cannot be read: ${(error as NodeJS.ErrnoException).code ?? 'unknown reason'}`);
  }
}

function parseCertificates(pem: string, file: NamedFile): X509Certificate[] {
  const blocks = pem.match(/-----BEGIN CERTIFICATE-----[\s\S]+?-----END CERTIFICATE-----/g) ?? [];
  if (blocks.length === 0) throw fileError(file, 'contains no PEM certificate');
  // A file that is being written may end within its chain.
  if ((pem.match(/-----BEGIN CERTIFICATE-----/g) ?? []).length !== blocks.length) {
    throw fileError(file, 'ends within a certificate');
  }
  try {
    return blocks.map((block) => new X509Certificate(block));
  } catch {
    throw fileError(file, 'the certificate cannot be parsed');
  }
}

function parseKey(pem: string, file: NamedFile): KeyObject {
  try {
    return createPrivateKey(pem);
  } catch {
    const isEncrypted = /ENCRYPTED/.test(pem);
    throw fileError(
      file,
      isEncrypted ? 'the key has a passphrase; remove it' : 'contains no PEM private key',
    );
  }
}

function fileError({ setting, path }: NamedFile, why: string): Error {
  return new Error(`${setting}: ${path}: ${why}`);
}
