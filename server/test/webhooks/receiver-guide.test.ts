import { spawnSync } from 'node:child_process';
import { createHmac } from 'node:crypto';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Webhook } from 'standardwebhooks';
import Stripe from 'stripe';
import { transformWithEsbuild } from 'vite';
import { describe, expect, test } from 'vitest';

const root = fileURLToPath(new URL('../../../', import.meta.url));

describe('the guide for receivers', () => {
  async function block(after: string, language: string): Promise<string> {
    const page = await readFile(join(root, 'docs/webhooks.md'), 'utf8');
    const [, text] = new RegExp(`### ${after}\n[^]*?\`\`\`${language}\n([^]*?)\`\`\``).exec(page) ?? [];
    if (text === undefined) throw new Error(`docs/webhooks.md has no ${language} block under ${after}`);
    return text;
  }

  test('publishes a test vector that verifies under both signature schemes', async () => {
    const { secret, body, headers } = JSON.parse(await block('Test vector', 'json'));
    expect(Buffer.byteLength(body)).toBe(170);
    const time = headers['webhook-timestamp'];
    expect(headers['Service-Signature']).toBe(
      `t=${time},v1=${createHmac('sha256', secret).update(`${time}.${body}`).digest('hex')}`,
    );
    const stripe = new Stripe('sk_test_none');
    const signature = headers['Service-Signature'];
    const event = stripe.webhooks.constructEvent(
      body,
      signature,
      secret,
      300,
      undefined,
      Number(time) * 1000,
    );
    expect(event.id).toBe(headers['webhook-id']);
    const key = Buffer.from(secret.slice('whsec_'.length), 'base64');
    const signed = `${headers['webhook-id']}.${time}.${body}`;
    expect(headers['webhook-signature']).toBe(
      `v1,${createHmac('sha256', key).update(signed).digest('base64')}`,
    );
    expect(new Webhook(secret).sign(headers['webhook-id'], new Date(Number(time) * 1000), body)).toBe(
      headers['webhook-signature'],
    );
  });

  test('shows a TypeScript receiver that accepts the vector and rejects changed or stale requests', async () => {
    const { secret, body, headers } = JSON.parse(await block('Test vector', 'json'));
    const { code } = await transformWithEsbuild(await block('TypeScript', 'ts'), 'receiver.ts');
    const folder = await mkdtemp(join(tmpdir(), 'simplane-docs-'));
    await writeFile(join(folder, 'receiver.mjs'), code);
    Object.assign(process.env, { PORT: '0', WEBHOOK_SECRET: secret });
    const { isAuthentic, server } = await import(/* @vite-ignore */ join(folder, 'receiver.mjs'));
    try {
      const [raw, signature] = [Buffer.from(body), headers['Service-Signature']];
      const time = Number(headers['webhook-timestamp']);
      expect(isAuthentic(raw, signature, secret, time + 300)).toBe(true);
      expect(isAuthentic(raw, signature, secret, time - 300)).toBe(true);
      const [t, v1] = signature.split(',');
      expect(isAuthentic(raw, `${t},v1=${'0'.repeat(64)},${v1}`, secret, time)).toBe(true);
      expect(isAuthentic(raw, signature, secret, time + 301)).toBe(false);
      expect(isAuthentic(raw, signature, secret, time - 301)).toBe(false);
      expect(isAuthentic(Buffer.from(`${body} `), signature, secret, time)).toBe(false);
      expect(isAuthentic(raw, signature, `${secret.slice(0, -2)}9=`, time)).toBe(false);
      for (const header of ['', t, v1, `t=${time + 1},${v1}`, `${t},v1=é`]) {
        expect(isAuthentic(raw, header, secret, time), header).toBe(false);
      }
    } finally {
      server.close();
      delete process.env['PORT'];
      delete process.env['WEBHOOK_SECRET'];
      await rm(folder, { recursive: true });
    }
  });

  const programs = [
    { language: 'TypeScript', tag: 'ts', file: 'receiver.mjs', command: process.execPath },
    { language: 'Python', tag: 'python', file: 'receiver.py', command: 'python3' },
    { language: 'Go', tag: 'go', file: 'main.go', command: null }, // compiling it takes a minute on a busy machine
  ];

  test('names every language of the page here', async () => {
    const page = await readFile(join(root, 'docs/webhooks.md'), 'utf8');
    const languages = [...page.matchAll(/^### (.*)\n\n```(ts|python|go|ruby|php|java|rust|csharp)\n/gm)].map(
      ([, name]) => name,
    );
    expect(languages).toEqual(programs.map(({ language }) => language));
  });

  describe.each(programs)('a receiver in $language', ({ language, tag, file, command }) => {
    const isInstalled = command !== null && spawnSync(command, ['--version']).status === 0;

    test('compares the secret with whsec_ before it serves, and reads it nowhere else', async () => {
      const text = await block(language, tag);
      expect(text.split('WEBHOOK_SECRET').length - 1).toBe(2); // where it is read, and the message
      expect(text).toMatch(
        /!secret\.startsWith\('whsec_'\)|not SECRET\.startswith\("whsec_"\)|!strings\.HasPrefix\(secret, "whsec_"\)/,
      );
    });

    if (!isInstalled) return;
    test.each([undefined, '', 'secret'])('does not start with the secret %j', async (secret) => {
      const folder = await mkdtemp(join(tmpdir(), 'simplane-docs-'));
      try {
        const text = await block(language, tag);
        const code = tag === 'ts' ? (await transformWithEsbuild(text, 'receiver.ts')).code : text;
        await writeFile(join(folder, file), code);
        const { WEBHOOK_SECRET: _, ...env } = process.env;
        const { status, stderr } = spawnSync(command ?? '', [join(folder, file)], {
          env: { ...env, PORT: '0', ...(secret !== undefined && { WEBHOOK_SECRET: secret }) },
          timeout: 100_000, // a receiver that starts runs forever
          encoding: 'utf8',
        });
        expect(status).toBe(1);
        expect(stderr).toContain('WEBHOOK_SECRET');
      } finally {
        await rm(folder, { recursive: true });
      }
    });
  });
});
