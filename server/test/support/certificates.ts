import { createSign, generateKeyPairSync, type KeyObject, randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { isIP } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

type Issued = { cert: string; key: string };
/** `name` is the common name, or several. */
type Subject = { name: string | string[]; hosts?: string[]; startsAt?: Date; endsAt?: Date };

export type Authority = { pem: string; issue(subject: Subject): Issued };

/** A throwaway certificate authority: needs only Node, and keeps no private key in the repository. */
export function createAuthority(name: string, dates: Pick<Subject, 'startsAt' | 'endsAt'> = {}): Authority {
  const keys = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const self = { name, key: keys.privateKey };
  return {
    pem: certificate({ name, ...dates }, keys.publicKey, self, true),
    issue(subject) {
      const own = generateKeyPairSync('ec', { namedCurve: 'P-256' });
      return {
        cert: certificate(subject, own.publicKey, self, false),
        key: own.privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
      };
    },
  };
}

/** A folder for the files that settings point to. */
export function createFolder(): { write(name: string, content: string): string; remove(): void } {
  const folder = mkdtempSync(join(tmpdir(), 'simplane-certificates-'));
  return {
    write(name, content) {
      const path = join(folder, name);
      writeFileSync(path, content);
      return path;
    },
    remove: () => rmSync(folder, { recursive: true }),
  };
}

const day = 86_400_000;

function certificate(
  {
    name,
    hosts = [],
    startsAt = new Date(Date.now() - day),
    endsAt = new Date(Date.now() + 90 * day),
  }: Subject,
  publicKey: KeyObject,
  issuer: { name: string | string[]; key: KeyObject },
  isAuthority: boolean,
): string {
  const algorithm = sequence(oid('2a8648ce3d040302')); // ecdsa-with-SHA256
  const extensions = [
    ...(isAuthority ? [extension('551d13', sequence(der(0x01, Buffer.from([0xff]))))] : []),
    ...(hosts.length > 0 ? [extension('551d11', sequence(...hosts.map(alternativeName)))] : []),
  ];
  const signed = sequence(
    der(0xa0, der(0x02, Buffer.from([2]))), // version 3
    der(0x02, Buffer.concat([Buffer.from([1]), randomBytes(15)])),
    algorithm,
    distinguishedName(issuer.name),
    sequence(time(startsAt), time(endsAt)),
    distinguishedName(name),
    publicKey.export({ type: 'spki', format: 'der' }),
    ...(extensions.length > 0 ? [der(0xa3, sequence(...extensions))] : []),
  );
  const signature = createSign('sha256').update(signed).sign(issuer.key);
  const whole = sequence(signed, algorithm, der(0x03, Buffer.concat([Buffer.from([0]), signature])));
  const lines = whole.toString('base64').match(/.{1,64}/g) ?? [];
  return `-----BEGIN CERTIFICATE-----\n${lines.join('\n')}\n-----END CERTIFICATE-----\n`;
}

function distinguishedName(commonNames: string | string[]): Buffer {
  const parts = [commonNames].flat().map((name) => sequence(oid('550403'), der(0x0c, Buffer.from(name))));
  return sequence(...parts.map((part) => der(0x31, part)));
}

function alternativeName(host: string): Buffer {
  return isIP(host) === 4
    ? der(0x87, Buffer.from(host.split('.').map(Number)))
    : der(0x82, Buffer.from(host));
}

function extension(id: string, value: Buffer): Buffer {
  return sequence(oid(id), der(0x04, value));
}

function time(date: Date): Buffer {
  return der(0x18, Buffer.from(`${date.toISOString().replaceAll(/[-:T]/g, '').slice(0, 14)}Z`));
}

function oid(hex: string): Buffer {
  return der(0x06, Buffer.from(hex, 'hex'));
}

function sequence(...parts: Buffer[]): Buffer {
  return der(0x30, Buffer.concat(parts));
}

function der(tag: number, content: Buffer): Buffer {
  const { length } = content;
  const size = length < 128 ? [length] : length < 256 ? [0x81, length] : [0x82, length >> 8, length & 255];
  return Buffer.concat([Buffer.from([tag, ...size]), content]);
}
