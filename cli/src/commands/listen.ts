import { randomBytes } from 'node:crypto';
import { ApiError, type WebhookEndpoint, type WebhookEvent, webhooks } from '@simplane/sdk';
import type { Command } from 'commander';
import { type Context, withAction } from '../action.ts';
import { CommandError, usageError } from '../command-error.ts';
import { exitCodes } from '../exit-codes.ts';
import { type Forwarded, forward } from '../listen/forward.ts';
import { type Answer, type Incoming, startReceiver } from '../listen/receive.ts';
import { awaitStop, type Stop } from '../listen/stop.ts';
import {
  createTemporaryEndpoint,
  type Removal,
  removeLeftovers,
  type TemporaryEndpoint,
} from '../listen/temporary-endpoint.ts';
import { watchEndpoint } from '../listen/watch-endpoint.ts';
import { clean } from '../print/clean.ts';
import { clock } from '../print/format.ts';
import { onReaderGone } from '../print/output.ts';
import { isLoopback } from '../settings.ts';
import { eventsOption } from './webhooks.ts';

type ListenOptions = { forwardTo?: string; events: string[] };

// How long the end may take when the service does not answer.
const removalMs = 10_000;

export function addListen(program: Command): void {
  const command = program
    .command('listen')
    .description('receive events on this machine and pass them on to your app')
    .option('--forward-to <url>', 'your app: a URL, or a port of this machine; shown only when left out')
    .addOption(eventsOption());
  withAction<ListenOptions>(command, (context, options) => listen(context, options));
}

async function listen(context: Context, { forwardTo, events }: ListenOptions): Promise<void> {
  const { client, settings, out } = context;
  const target = forwardTo === undefined ? null : readTarget(forwardTo);
  if (!isLoopback(settings.baseUrl)) throw outOfReach(settings.baseUrl);
  const stop = awaitStop();
  onReaderGone(stop.ask);
  let endpoint: TemporaryEndpoint | null = null;
  let watch: ReturnType<typeof watchEndpoint> | null = null;
  const receiver = await startReceiver(randomBytes(16).toString('hex'), async (incoming) => {
    // A delivery may come before the answer to the creation, which brings the secret.
    const made = await endpoint?.created;
    if (!made) return { status: 503 };
    watch ??= watchEndpoint(client, made.id, {
      signal: stop.signal,
      onDisabled: (disabled) => sayDisabled(context, disabled),
    });
    const answer = await pass(context, made, target, incoming, stop);
    if (answer.status < 200 || answer.status > 299) watch.failed();
    return answer;
  });
  try {
    const leftovers = await removeLeftovers(client, stop.signal);
    if (leftovers.length > 0) out.note(`Removed what an earlier run left: ${leftovers.join(', ')}`);
    if (stop.signal.aborted) return;
    endpoint = createTemporaryEndpoint(client, { url: receiver.url, events });
    await Promise.race([endpoint.created, stop.asked]);
    if (stop.signal.aborted) return;
    greet(context, await endpoint.created, target);
    await stop.asked;
  } catch (error) {
    if (stop.signal.aborted) return;
    throw error instanceof ApiError && error.code === 'url_not_allowed' ? notAllowed(error) : error;
  } finally {
    if (endpoint) sayGoodbye(context, await endpoint.remove(AbortSignal.timeout(removalMs)));
    receiver.stop();
  }
}

/** Verifies a delivery as the app should, passes it on, and tells the service what the app said, so that retries are real. */
async function pass(
  { out }: Context,
  endpoint: WebhookEndpoint,
  target: URL | null,
  incoming: Incoming,
  stop: Stop,
): Promise<Answer> {
  let event: WebhookEvent;
  try {
    const header = incoming.headers['service-signature'];
    event = await webhooks.verify(incoming.body, String(header ?? ''), endpoint.secret ?? '');
  } catch (error) {
    out.complain(`Refused a request that is not the service’s: ${(error as Error).message}`);
    return { status: 400 };
  }
  const forwarded: Forwarded = target
    ? await forward(target, incoming, stop.signal)
    : { answer: { status: 200 }, durationMs: 0, failure: null };
  if (!stop.signal.aborted) report(out, event, forwarded, target);
  return forwarded.answer;
}

function report(
  out: Context['out'],
  event: WebhookEvent,
  { answer, durationMs, failure }: Forwarded,
  target: URL | null,
): void {
  const duration = Math.round(durationMs);
  const status = failure === null && target ? answer.status : null;
  if (out.isJson) out.json({ object: 'forward', event, status, duration_ms: duration, error: failure });
  else out.line(lineOf(out, event, target ? (failure ?? `${status} in ${duration} ms`) : null, answer));
}

function lineOf(
  { colors }: Context['out'],
  event: WebhookEvent,
  told: string | null,
  answer: Answer,
): string {
  const isGood = answer.status >= 200 && answer.status < 300;
  const outcome = told === null ? '' : `  ${colors[isGood ? 'green' : 'red'](`→ ${clean(told)}`)}`;
  return `${colors.dim(clock(new Date()))}  ${clean(event.type)}  ${colors.dim(clean(event.id))}${outcome}`;
}

function greet({ out }: Context, endpoint: WebhookEndpoint, target: URL | null): void {
  const { id, secret = '', enabled_event_types: types } = endpoint;
  const { bold, dim } = out.colors;
  if (out.isJson) {
    const forward_to = target?.href ?? null;
    const facts = { webhook_endpoint_id: id, secret, enabled_event_types: types, forward_to };
    out.json({ object: 'listening', ...facts });
  } else {
    out.line(`Listening for ${types.join(', ')}${target ? `, forwarding to ${target.href}` : ''}`);
    out.line(`Signing secret for your app: ${bold(secret)}`);
    out.line(
      dim(`Temporary endpoint ${id}; Ctrl-C ends and removes it. Try: simplane trigger esim.provisioned`),
    );
  }
}

function sayDisabled({ out }: Context, { id, disabled_reason: reason = '' }: WebhookEndpoint): void {
  if (out.isJson) out.json({ object: 'disabled', webhook_endpoint_id: id, disabled_reason: reason });
  out.note(`The service has disabled the endpoint: ${clean(reason)}`);
  out.note(`Mend the app, then: simplane webhooks enable ${id}`);
}

function sayGoodbye({ out }: Context, removal: Removal): void {
  if (removal.isRemoved && removal.ids.length === 0) return; // it was never made
  if (out.isJson) out.json({ object: 'stopped', is_removed: removal.isRemoved });
  if (removal.isRemoved) {
    out.note(out.noteColors.dim('The temporary endpoint is removed.'));
    return;
  }
  process.exitCode = exitCodes.refused;
  const later = removal.id ? `simplane webhooks delete ${removal.id}` : 'simplane webhooks list';
  out.complain(`The temporary endpoint could not be removed: ${clean(removal.why)}`);
  out.complain(`Once the service is back: ${later} – or the next \`simplane listen\` removes it.`);
}

/** `3000`, `localhost:3000/webhooks` or a whole URL. */
function readTarget(text: string): URL {
  const full = /^:?\d+(\/|$)/.test(text) ? `http://127.0.0.1:${text.replace(/^:/, '')}` : text;
  const url = /^https?:\/\//i.test(full) ? full : `http://${full}`;
  if (!URL.canParse(url) || /^[a-z]+:\/\//i.test(url.replace(/^https?:\/\//i, ''))) {
    throw usageError(`--forward-to takes a URL or a port; got ${text}`, 'Such as --forward-to 3000/webhooks');
  }
  return new URL(url);
}

function outOfReach(baseUrl: string): CommandError {
  return usageError(
    `${baseUrl} is on another machine and cannot reach this one’s loopback.`,
    'Use a sandbox on this machine (`npm start`), or register a public address of your own: simplane webhooks create <url>',
  );
}

function notAllowed(error: ApiError): CommandError {
  return new CommandError(`The service may not send to this machine: ${error.message}`, {
    nextStep:
      '`listen` needs a sandbox that is bound to loopback (HOST=127.0.0.1) and whose SIMPLANE_WEBHOOK_ALLOW_CIDRS is not `none`.',
    exitCode: exitCodes.refused,
  });
}
