/**
 * What the audit log tells of. An entry is written in the transaction of the change; the name says what has happened to the
 * target, so `esim.termination_ordered` and not `esim.terminated`, which is an event of the network.
 */
export const auditActions = [
  'api_key.created',
  'api_key.updated',
  'api_key.rolled',
  'api_key.revoked',
  'webhook_endpoint.created',
  'webhook_endpoint.updated',
  'webhook_endpoint.enabled',
  'webhook_endpoint.deleted',
  'webhook_endpoint.secret_rotated',
  'webhook_endpoint.recovery_started',
  'event.replayed',
  'delivery.retried',
  'delivery.skipped',
  'esim.termination_ordered',
  'esim.install_profile_viewed',
  'account.created',
  'account.updated',
  'account.viewed',
  'execution.retried',
  'execution.resolved',
  'failure_group.retried',
  'product.updated',
  'product.deactivated',
  'session.started',
  'session.ended',
  'session.refused',
  'dashboard.write',
  'secrets.reseal_started',
] as const;

export type AuditAction = (typeof auditActions)[number];

export const auditTargetTypes = [
  'request',
  'api_key',
  'webhook_endpoint',
  'event',
  'delivery',
  'esim',
  'account',
  'execution',
  'failure_group',
  'product',
  'session',
  'deployment',
] as const;

export type AuditTargetType = (typeof auditTargetTypes)[number];

/** Who can change something. */
export const actorTypes = ['api_key', 'operator', 'command_line'] as const;

export type ActorType = (typeof actorTypes)[number];

/** `anonymous`: someone who failed to sign in, with a key or a link that is not known. */
export const auditActorTypes = [...actorTypes, 'anonymous'] as const;

export type AuditActorType = (typeof auditActorTypes)[number];
