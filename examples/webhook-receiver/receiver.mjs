// A webhook receiver: verify, deduplicate, answer, then process. Needs only Node 20; see README.md.
import { createHmac, timingSafeEqual } from 'node:crypto';
import { createServer } from 'node:http';

const secret = process.env.WEBHOOK_SECRET;
const port = Number(process.env.PORT ?? 3000);
const toleranceSeconds = 300;
const maxBodyBytes = 1024 * 1024;

if (!secret?.startsWith('whsec_')) {
  console.error('Set WEBHOOK_SECRET to the whsec_… secret from the response that created the endpoint.');
  process.exit(1);
}

// In production, use a table with a unique event id: `insert … on conflict do nothing`, committed before the answer, so that
// a restart or a second process still knows it. This example keeps the newest ids in memory.
const seen = new Set();
const maxSeen = 10_000;
const inbox = [];

const server = createServer((request, response) => {
  receive(request, response).catch(() => response.destroy());
});

async function receive(request, response) {
  if (request.method !== 'POST') return answer(response, 405, 'POST only');
  const body = await readBody(request).catch(() => null);
  if (body === null) return answer(response, 413, 'too large or incomplete');
  const refusal = verify(body, request.headers['service-signature'], Date.now() / 1000);
  if (refusal) return answer(response, 400, refusal);

  const event = JSON.parse(body.toString('utf8'));
  if (seen.has(event.id)) return answer(response, 200, 'duplicate');
  remember(event.id);
  inbox.push(event);
  answer(response, 200, 'accepted');
  setImmediate(processInbox);
}

/** Returns why the request is refused, or null. `body` is the raw bytes, before any parsing. */
function verify(body, header, nowSeconds) {
  const pairs = String(header ?? '')
    .split(',')
    .map((pair) => pair.split('='));
  const [time, second] = pairs.filter(([name]) => name === 't').map(([, value]) => value);
  if (!/^\d{1,12}$/.test(time ?? '') || second !== undefined) return 'missing or malformed Service-Signature';

  const expected = createHmac('sha256', secret).update(`${time}.`).update(body).digest();
  const isSigned = pairs
    .filter(([name, value]) => name === 'v1' && /^[0-9a-f]{64}$/.test(value ?? ''))
    .some(([, value]) => timingSafeEqual(Buffer.from(value, 'hex'), expected));
  if (!isSigned) return 'the signature does not match';
  if (Math.abs(nowSeconds - Number(time)) > toleranceSeconds) return 'the signature is too old or too new';
  return null;
}

async function readBody(request) {
  const chunks = [];
  let bytes = 0;
  for await (const chunk of request) {
    bytes += chunk.length;
    if (bytes > maxBodyBytes) throw new Error('too large');
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

function remember(id) {
  seen.add(id);
  if (seen.size > maxSeen) seen.delete(seen.values().next().value);
}

/** The slow part, after the answer. Events may arrive in any order: fetch the current state instead of trusting the last one. */
function processInbox() {
  for (let event = inbox.shift(); event; event = inbox.shift()) {
    console.log(`${event.id} ${event.type} ${JSON.stringify(event.data)}`);
  }
}

function answer(response, status, text) {
  response.writeHead(status, { 'Content-Type': 'text/plain' }).end(`${text}\n`);
}

server.listen(port, '127.0.0.1', () => {
  console.log(`listening at http://127.0.0.1:${server.address().port}/`);
});
