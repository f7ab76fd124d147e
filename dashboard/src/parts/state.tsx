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

/** The shape alone. It is drawn by the style, so that it looks the same with every font; the character stays for copied text. */
export function Mark({ shape }: { shape: Shape }) {
  const [character, color] = shapes[shape];
  return (
    <span className={`mark ${shape} ${color}`} aria-hidden="true">
      {character}
    </span>
  );
}

/** The shape of every status that the API has. */
const shapeOf: Record<string, Shape> = {
  active: 'ok',
  enabled: 'ok',
  provisioned: 'open',
  succeeded: 'done',
  delivered: 'done',
  provisioning: 'running',
  running: 'running',
  pending: 'running',
  queued: 'open',
  suspended: 'paused',
  paused: 'paused',
  terminated: 'ended',
  closed: 'ended',
  canceled: 'ended',
  expired: 'ended',
  revoked: 'ended',
  depleted: 'warning',
  failing: 'failed',
  undelivered: 'failed',
  failed: 'failed',
  disabled: 'failed',
};

export function State({ status, shape, word }: { status: string; shape?: Shape; word?: string }) {
  const shown = shape ?? shapeOf[status] ?? 'open';
  return (
    <span className={`state ${shown}`}>
      <Mark shape={shown} /> {word ?? status.charAt(0).toUpperCase() + status.slice(1)}
    </span>
  );
}
