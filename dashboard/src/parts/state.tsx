/** A state is a shape and a word; its color comes third. */
const shapes = {
  ok: ['●', 'ok'],
  open: ['○', 'quiet'],
  running: ['◐', 'info'],
  paused: ['‖', 'warn'],
  ended: ['■', 'quiet'],
  warning: ['▲', 'warn'],
  failed: ['✕', 'bad'],
  done: ['✓', 'ok'],
} as const;

export type Shape = keyof typeof shapes;

/** The shape of every status that the API has. */
const shapeOf: Record<string, Shape> = {
  active: 'ok',
  enabled: 'ok',
  provisioned: 'ok',
  succeeded: 'done',
  delivered: 'done',
  provisioning: 'running',
  running: 'running',
  pending: 'running',
  queued: 'open',
  suspended: 'paused',
  paused: 'paused',
  terminated: 'ended',
  canceled: 'ended',
  expired: 'ended',
  revoked: 'ended',
  depleted: 'warning',
  failing: 'failed',
  failed: 'failed',
  disabled: 'failed',
};

export function State({ status, shape, word }: { status: string; shape?: Shape; word?: string }) {
  const [mark, color] = shapes[shape ?? shapeOf[status] ?? 'open'];
  return (
    <span className={`state ${color}`}>
      <span aria-hidden="true">{mark}</span> {word ?? status.charAt(0).toUpperCase() + status.slice(1)}
    </span>
  );
}
