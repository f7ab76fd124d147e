import { randomBytes } from 'node:crypto';
import { ApiError, type WebhookEndpoint, type WebhookEvent, webhooks } from '@simplane/sdk';
import type { Command } from 'commander';
import { type Context, withAction } from '../action.ts';
import { CommandError, usageError } from '../command-error.ts';
import { exitCodes } from '../exit-codes.ts';
import { type Forwarded, forward } from '../listen/forward.ts';
import { type Answer, type Incoming, startReceiver } from '../listen/receive.ts';
import {
  createTemporaryEndpoint,
  type Removal,
  removeLeftovers,
  type TemporaryEndpoint,
} from '../listen/temporary-endpoint.ts';
import { watchEndpoint } from '../listen/watch-endpoint.ts';
import { clean } from '../print/clean.ts';
import { clock } from '../print/format.ts';
import { onStdoutClosed } from '../print/output.ts';
import { isLoopback } from '../settings.ts';
import { handleStopSignals, type Stop } from '../stop.ts';
import { eventsOption } from './webhooks.ts';

type ListenOptions = { forwardTo?: string; events: string[] };

// How long shutdown may take when the service does not answer.
const removalTimeoutMs = 10_000;

export function addListen(program: Command): void {
  const command = program
    .command('listen')
    .description('receive events on this machine and forward them to your app')
    .option('--forward-to <url>', 'URL of your app, or a local port; default: only print events')
    .addOption(eventsOption().default(['*'], '*'));
  withAction<ListenOptions>(command, (context, options) => listen(context, options));
}

async function listen(context: Context, { forwardTo, events }: ListenOptions): Promise<void> {
  const { client, settings, out } = context;
  const target = forwardTo === undefined ? null : readTarget(forwardTo);
  if (!isLoopback(settings.baseUrl)) throw notLocalError(settings.baseUrl);
  const stop = handleStopSignals();
  onStdoutClosed(stop.request);
  let endpoint: TemporaryEndpoint | null = null;
  let watch: ReturnType<typeof watchEndpoint> | null = null;
  const receiver = await startReceiver(randomBytes(16).toString('hex'), async (incoming) => {
    // A delivery may arrive before the create response, which holds the signing secret.
    const registered = await endpoint?.created;
    if (!registered) return { status: 503 };
    watch ??= watchEndpoint(client, registered.id, {
      signal: stop.signal,
      onDisabled: (disabled) => printDisabled(context, disabled),
    });
    const answer = await handleDelivery(context, registered, target, incoming, stop);
    if (answer.status < 200 || answer.status > 299) watch.failed();
    return answer;
  });
  try {
    const leftovers = await removeLeftovers(client, stop.signal);
    if (leftovers.length > 0) out.note(`Removed endpoints left by an earlier run: ${leftovers.join(', ')}`);
    if (stop.signal.aborted) return;
    endpoint = createTemporaryEndpoint(client, { url: receiver.url, events });
    await Promise.race([endpoint.created, stop.requested]);
    if (stop.signal.aborted) return;
    printListening(context, await endpoint.created, target);
    await stop.requested;
  } catch (error) {
    if (stop.signal.aborted) return;
    throw error instanceof ApiError && error.code === 'url_not_allowed' ? loopbackNotAllowed(error) : error;
  } finally {
    if (endpoint) printRemoval(context, await endpoint.remove(AbortSignal.timeout(removalTimeoutMs)));
    receiver.stop();
  }
}

/** Verifies a delivery, forwards it, and returns the app's own response, so the service retries as in production. */
async function handleDelivery(
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
    out.error(`Rejected a request that failed signature verification: ${(error as Error).message}`);
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
  else out.line(eventLine(out, event, target ? (failure ?? `${status} in ${duration} ms`) : null, answer));
}

function eventLine(
  { colors }: Context['out'],
  event: WebhookEvent,
  outcome: string | null,
  answer: Answer,
): string {
  const isSuccess = answer.status >= 200 && answer.status < 300;
  const suffix = outcome === null ? '' : `  ${colors[isSuccess ? 'green' : 'red'](`→ ${clean(outcome)}`)}`;
  return `${colors.dim(clock(new Date()))}  ${clean(event.type)}  ${colors.dim(clean(event.id))}${suffix}`;
}

function printListening({ out }: Context, endpoint: WebhookEndpoint, target: URL | null): void {
  const { id, secret = '', enabled_event_types: types } = endpoint;
  const { bold, dim } = out.colors;
  if (out.isJson) {
    const forward_to = target?.href ?? null;
    const details = { webhook_endpoint_id: id, secret, enabled_event_types: types, forward_to };
    out.json({ object: 'listening', ...details });
  } else {
    out.line(`Listening for ${types.join(', ')}${target ? `, forwarding to ${target.href}` : ''}`);
    out.line(`Signing secret for your app: ${bold(secret)}`);
    out.line(
      dim(`Temporary endpoint ${id}; Ctrl-C stops and removes it. Try: simplane trigger esim.provisioned`),
    );
  }
}

function printDisabled({ out }: Context, { id, disabled_reason: reason = '' }: WebhookEndpoint): void {
  if (out.isJson) out.json({ object: 'disabled', webhook_endpoint_id: id, disabled_reason: reason });
  out.note(`The service disabled the endpoint: ${clean(reason)}`);
  out.note(`Fix the app, then: simplane webhooks enable ${id}`);
}

function printRemoval({ out }: Context, removal: Removal): void {
  if (removal.isRemoved && removal.ids.length === 0) return; // it was never created
  if (out.isJson) out.json({ object: 'stopped', is_removed: removal.isRemoved });
  if (removal.isRemoved) {
    out.note(out.noteColors.dim('Removed the temporary endpoint.'));
    return;
  }
  process.exitCode = exitCodes.refused;
  const command = removal.id ? `simplane webhooks delete ${removal.id}` : 'simplane webhooks list';
  out.error(`Could not remove the temporary endpoint: ${clean(removal.why)}`);
  out.error(`Once the service is back: ${command}. Otherwise the next \`simplane listen\` removes it.`);
}

/** Accepts `3000`, `localhost:3000/webhooks` or a full URL. */
function readTarget(text: string): URL {
  const full = /^:?\d+(\/|$)/.test(text) ? `http://127.0.0.1:${text.replace(/^:/, '')}` : text;
  const url = /^https?:\/\//i.test(full) ? full : `http://${full}`;
  if (!URL.canParse(url) || /^[a-z]+:\/\//i.test(url.replace(/^https?:\/\//i, ''))) {
    throw usageError(`--forward-to must be a URL or port; got ${text}`, 'Try --forward-to 3000/webhooks');
  }
  return new URL(url);
}

function notLocalError(baseUrl: string): CommandError {
  return usageError(
    `${baseUrl} is on another machine and cannot reach loopback on this one.`,
    'Use a sandbox on this machine (`npm start`), or register a public URL: simplane webhooks create <url>',
  );
}

function loopbackNotAllowed(error: ApiError): CommandError {
  return new CommandError(`The service is not allowed to send to this machine: ${error.message}`, {
    nextStep:
      '`listen` needs a sandbox bound to loopback (HOST=127.0.0.1), with SIMPLANE_WEBHOOK_ALLOW_CIDRS not set to `none`.',
    exitCode: exitCodes.refused,
  });
}
