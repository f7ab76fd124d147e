import {
  type EventTypeName,
  type ExecutionType,
  eventTypes,
  type TimelineKind,
  type TimelineStep,
} from '@simplane/contract';
import { type ExecutionRow, presentExecution } from '../../orders/executions/present.ts';
import { unixSeconds } from '../../platform/clock.ts';

type Described = { kind: TimelineKind; title: string };

export function describeEvent(type: string, data: Record<string, unknown>): Described {
  if (!Object.hasOwn(kinds, type)) return { kind: 'other', title: `A test event of the type ${type}.` };
  const known = type as EventTypeName;
  return { kind: kinds[known], title: titleOf(known, data) ?? firstSentence(eventTypes[known].description) };
}

export function describeExecution(type: ExecutionType): Described {
  return { kind: type === 'esim.provision' ? 'order' : 'command', title: executionTitles[type] };
}

const executionTitles: Record<ExecutionType, string> = {
  'esim.provision': 'The eSIM was ordered.',
  'esim.suspend': 'Suspending the eSIM was requested.',
  'esim.resume': 'Resuming the eSIM was requested.',
  'esim.terminate': 'Terminating the eSIM was requested.',
  'bundle.add': 'A top-up was ordered.',
};

/** A title with values. The data of a test event can be anything, so values of other types are not used. */
function titleOf(type: EventTypeName, data: Record<string, unknown>): string | null {
  const { country, previous_country: previous, threshold_percent: percent } = data;
  if (type === 'esim.country_changed' && isCode(country) && isCode(previous)) {
    return `The eSIM attached in ${country}, before that in ${previous}.`;
  }
  if (type === 'bundle.usage_threshold' && Number.isInteger(percent)) {
    return `${percent} % of the bundle’s data is used.`;
  }
  return null;
}

function isCode(value: unknown): value is string {
  return typeof value === 'string' && /^[A-Z]{2}$/.test(value);
}

const kinds: Record<EventTypeName, TimelineKind> = {
  'esim.provisioned': 'state',
  'esim.provisioning_failed': 'state',
  'esim.activated': 'state',
  'esim.suspended': 'state',
  'esim.resumed': 'state',
  'esim.terminated': 'state',
  'esim.erased': 'other',
  'esim.downloaded': 'profile',
  'esim.installed': 'profile',
  'esim.enabled': 'profile',
  'esim.disabled': 'profile',
  'esim.deleted': 'profile',
  'esim.download_failed': 'profile',
  'esim.install_failed': 'profile',
  'esim.usage_not_covered': 'usage',
  'esim.service_changed': 'state',
  'esim.country_changed': 'attach',
  'install_link.opened': 'other',
  'bundle.added': 'bundle',
  'bundle.activated': 'bundle',
  'bundle.expired': 'bundle',
  'bundle.canceled': 'bundle',
  'bundle.usage_threshold': 'usage',
  'bundle.depleted': 'usage',
  'batch.finished': 'order',
  'execution.failed': 'command',
  'webhook_endpoint.failing': 'other',
  'webhook_endpoint.recovered': 'other',
  'webhook_endpoint.disabled': 'other',
};

/** The rest of a description is about the event's data. */
function firstSentence(text: string): string {
  return text.replace(/(?<=\.) .*$/s, '');
}

/** What is stored about an execution, as steps. The times of single attempts are not stored. */
export function stepsOf(row: ExecutionRow): TimelineStep[] {
  const { status, attempts, error, waiting_for, next_attempt_at, finished_at } = presentExecution(row);
  const steps: TimelineStep[] = [{ name: 'accepted', at: unixSeconds(row.created_at) }];
  if (attempts > 0) steps.push({ name: 'running', at: null, attempts });
  if (waiting_for !== null) steps.push({ name: 'waiting', at: next_attempt_at, message: waiting_for });
  if (status === 'succeeded') steps.push({ name: status, at: finished_at });
  if (status === 'failed') {
    steps.push({
      name: status,
      at: finished_at,
      ...(error && { error_code: error.code, message: error.message }),
    });
  }
  return steps;
}
