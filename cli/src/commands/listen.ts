import type { WebhookEvent } from '@simplane/sdk';
import type { Command } from 'commander';
import { type Context, withAction } from '../action.ts';
import { usageError } from '../command-error.ts';
import { followFeed, type PlaceOptions, withPlaceOptions } from '../follow-feed.ts';
import { type Attempt, forward } from '../listen/forward.ts';
import { createSecret, isSecret } from '../listen/sign.ts';
import { clean } from '../print/clean.ts';
import { clock } from '../print/format.ts';
import { type Output, untilDrained } from '../print/output.ts';
import { version } from '../version.ts';
import { eventsOption } from './webhooks.ts';

type ListenOptions = PlaceOptions & { forwardTo?: string; events: string[]; secret?: string };

export function addListen(program: Command): void {
  const command = withPlaceOptions(
    program
      .command('listen')
      .description('forward events to an app on this machine, from any deployment')
      .option('--forward-to <url>', 'URL of your app, or a local port; default: only print events')
      .addOption(eventsOption().default(['*'], '*'))
      .option('--secret <secret>', 'signing secret (whsec_…) of your app; default: a new one'),
  );
  withAction<ListenOptions>(command, listen);
}

async function listen(context: Context, options: ListenOptions): Promise<void> {
  const { forwardTo, events, secret = createSecret(), since, after } = options;
  if (!isSecret(secret)) {
    throw usageError(
      '--secret must be whsec_ followed by base64.',
      'Use one that an earlier `simplane listen` printed, or omit it for a new one.',
    );
  }
  const { out } = context;
  const target = forwardTo === undefined ? null : readTarget(forwardTo);
  const userAgent = `Simplane/${version()}`;
  await followFeed(context, {
    ...(since !== undefined && { since }),
    ...(after !== undefined && { after }),
    ...(!events.includes('*') && { type: events }),
    onReady: () => printListening(out, { target, events, secret }),
    async handle(event, signal) {
      if (!target) {
        report(out, event, null);
        await untilDrained(signal);
        return true;
      }
      const onAttempt = (attempt: Attempt) => report(out, event, attempt);
      return forward(event, { target, secret, userAgent, signal, onAttempt });
    },
    onEnd(cursor) {
      if (out.isJson) out.json({ object: 'stopped', cursor });
      else if (cursor !== null) {
        out.note(out.noteColors.dim(`To continue from here: simplane listen --after ${clean(cursor)}`));
      }
    },
  });
}

function report(out: Output, event: WebhookEvent, attempt: Attempt | null): void {
  if (out.isJson) out.json({ object: 'forward', event, ...outcomeOf(attempt) });
  else out.line(eventLine(out, event, attempt));
}

/** Of an event that is only printed: nothing was sent. */
function outcomeOf(attempt: Attempt | null) {
  const { status = null, durationMs = 0, failure = null, number = 0, retryInMs = null } = attempt ?? {};
  return {
    status,
    duration_ms: Math.round(durationMs),
    error: failure,
    attempt: number,
    retry_in_ms: retryInMs,
  };
}

function eventLine({ colors }: Output, event: WebhookEvent, attempt: Attempt | null): string {
  const line = `${colors.dim(clock(new Date()))}  ${clean(event.type)}  ${colors.dim(clean(event.id))}`;
  if (!attempt) return line;
  const { isSuccess, failure, status, durationMs } = attempt;
  const outcome = failure ?? `${status} in ${Math.round(durationMs)} ms`;
  const paint = isSuccess ? colors.green : colors.red;
  return `${line}  ${paint(`→ ${clean(outcome)}`)}${isSuccess ? '' : whatFollows(attempt)}`;
}

function whatFollows({ number, retryInMs }: Attempt): string {
  if (retryInMs !== null) return `, next attempt in ${retryInMs / 1000} s; later events wait`;
  return `, gave up after ${number} attempts`;
}

type Listening = { target: URL | null; events: string[]; secret: string };

function printListening(out: Output, { target, events, secret }: Listening): void {
  if (out.isJson) {
    const forward_to = target?.href ?? null;
    out.json({ object: 'listening', secret, enabled_event_types: events, forward_to });
    return;
  }
  out.line(`Listening for ${events.join(', ')}${target ? `, forwarding to ${target.href}` : ''}`);
  if (target) out.line(`Signing secret for your app: ${out.colors.bold(secret)}`);
  out.line(out.colors.dim('Ctrl-C stops. Try: simplane trigger esim.provisioned'));
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
