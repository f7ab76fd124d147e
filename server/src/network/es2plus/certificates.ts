import { createPrivateKey, type KeyObject, X509Certificate } from 'node:crypto';
import { readFile } from 'node:fs/promises';

/** A file that a setting names: both stand in every complaint about it. */
export type NamedFile = { setting: string; path: string };

export type Identity = {
  /** The certificate with the chain that the file has below it, and its key, in PEM. */
  cert: string;
  key: string;
  endsAt: Date;
};

/** Our side of mutual TLS. What would fail at the first handshake, or later at night, fails here and names the file. */
export async function readIdentity(
  certFile: NamedFile,
  keyFile: NamedFile,
  now = new Date(),
): Promise<Identity> {
  const [cert, key] = await Promise.all([read(certFile), read(keyFile)]);
  const [own] = parseCertificates(cert, certFile) as [X509Certificate];
  const startsAt = new Date(own.validFrom);
  const endsAt = new Date(own.validTo);
  if (endsAt <= now)
    throw complaint(certFile, `the certificate ended on ${dayOf(endsAt)}; put a new one there`);
  if (startsAt > now) {
    throw complaint(certFile, `the certificate begins on ${dayOf(startsAt)}; is this machine’s clock right?`);
  }
  if (!own.checkPrivateKey(parseKey(key, keyFile))) {
    throw complaint(keyFile, `the key does not belong to the certificate in ${certFile.path}`);
  }
  return { cert, key, endsAt };
}

/** Whom we trust; at least one of them still in force. */
export async function readAuthorities(file: NamedFile, now = new Date()): Promise<string> {
  const pem = await read(file);
  const ends = parseCertificates(pem, file).map(({ validTo }) => new Date(validTo));
  const last = new Date(Math.max(...ends.map(Number)));
  if (last <= now) throw complaint(file, `the last of its certificates ended on ${dayOf(last)}`);
  return pem;
}

export function dayOf(date: Date): string {
  return date.toISOString().slice(0, 10);
}

async function read(file: NamedFile): Promise<string> {
  try {
    return await readFile(file.path, 'utf8');
  } catch (error) {
    throw complaint(file, `cannot be read: ${(error as NodeJS.ErrnoException).code ?? 'unknown reason'}`);
  }
}

function parseCertificates(pem: string, file: NamedFile): X509Certificate[] {
  const blocks = pem.match(/-----BEGIN CERTIFICATE-----[\s\S]+?-----END CERTIFICATE-----/g) ?? [];
  if (blocks.length === 0) throw complaint(file, 'there is no certificate in PEM in it');
  try {
    return blocks.map((block) => new X509Certificate(block));
  } catch {
    throw complaint(file, 'the certificate in it is damaged');
  }
}

function parseKey(pem: string, file: NamedFile): KeyObject {
  try {
    return createPrivateKey(pem);
  } catch {
    const isLocked = /ENCRYPTED/.test(pem);
    throw complaint(
      file,
      isLocked ? 'the key has a passphrase; take it off' : 'there is no private key in PEM in it',
    );
  }
}

function complaint({ setting, path }: NamedFile, why: string): Error {
  return new Error(`${setting}: ${path}: ${why}`);
}
