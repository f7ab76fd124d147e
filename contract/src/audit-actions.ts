/**
 * What the audit log tells of. An entry is written in the transaction of the change; the name says what has happened to the
 * target, so `esim.termination_ordered` and not `esim.terminated`, which is an event of the network.
 *
 * `dashboard.write` is no longer written; entries from before have it.
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
  'webhook_endpoint.probed',
  'event.test_sent',
  'event.replayed',
  'delivery.retried',
  'delivery.skipped',
  'event_consumer.created',
  'event_consumer.acknowledged',
  'event_consumer.moved',
  'event_consumer.deleted',
  'esim.ordered',
  'esim.updated',
  'esim.suspension_ordered',
  'esim.resumption_ordered',
  'esim.termination_ordered',
  'esim.top_up_ordered',
  'esim.bundle_canceled',
  'esim.simulated',
  'esim.install_profile_viewed',
  'esim.erasure_requested',
  'batch.created',
  'batch.canceled',
  'esim.install_link_created',
  'install_link.revoked',
  'install_link.viewed',
  'branding.updated',
  'batch.install_profiles_viewed',
  'usage.reported',
  'account.created',
  'account.updated',
  'account.closed',
  'account.erasure_requested',
  'account.frozen',
  'account.move_started',
  'account.move_undone',
  'account.moved',
  'account.viewed',
  'execution.canceled',
  'execution.retried',
  'execution.resolved',
  'failure_group.retried',
  'core.resync_started',
  'product.updated',
  'product.deactivated',
  'secret.shown_again',
  'session.link_created',
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
  'event_consumer',
  'delivery',
  'esim',
  'install_link',
  'account',
  'batch',
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

/** `anonymous`: someone who failed to sign in with a key or a link that is not known, or who opened an install link. */
export const auditActorTypes = [...actorTypes, 'anonymous'] as const;

export type AuditActorType = (typeof auditActorTypes)[number];

/** How it reached the server: `agent` is a tool call to `/mcp`. */
export const auditWays = ['api', 'dashboard', 'agent', 'command_line'] as const;

export type AuditWay = (typeof auditWays)[number];
