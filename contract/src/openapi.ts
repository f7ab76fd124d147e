import { ApiKey } from './api-key.ts';
import { apiVersions, currentApiVersion } from './api-version.ts';
import { AuditEntry } from './audit-log.ts';
import { Batch, BatchInstallProfiles } from './batch.ts';
import { Branding } from './branding.ts';
import { Bundle } from './bundle.ts';
import { Delivery, DeliveryAttempt } from './delivery.ts';
import { DryRun } from './dry-run.ts';
import { WebhookEndpointStats } from './endpoint-stats.ts';
import { ErrorBody } from './errors.ts';
import { Esim, InstallProfile } from './esim.ts';
import { EsimUsage } from './esim-usage.ts';
import { Event, EventType } from './event.ts';
import { EventConsumer } from './event-feed.ts';
import { Execution } from './execution.ts';
import { Identity } from './identity.ts';
import { InstallLink } from './install-link.ts';
import { nullRule } from './metadata.ts';
import { describeOperation } from './openapi-operation.ts';
import { linkSchemas, namedSchemas } from './openapi-schemas.ts';
import { describeCallbacks, describeWebhooks } from './openapi-webhooks.ts';
import type { Operation } from './operation.ts';
import { operations } from './operations.ts';
import { Account } from './operator/accounts.ts';
import { OperatorAuditEntry } from './operator/audit-log.ts';
import { CatalogProduct } from './operator/catalog-product.ts';
import { EndpointHealth } from './operator/endpoint-health.ts';
import { OperatorExecution } from './operator/execution.ts';
import { FailureGroup } from './operator/failure-group.ts';
import { IccidRange } from './operator/iccid-range.ts';
import { Network } from './operator/network.ts';
import { OperatorOverview } from './operator/overview.ts';
import { Process } from './operator/process.ts';
import { CoreResync, ServiceChange } from './operator/service-change.ts';
import { Overview } from './overview.ts';
import { Product } from './product.ts';
import { Recovery, RecoveryPreview } from './recovery.ts';
import { RequestLogEntry } from './request.ts';
import { SearchResult } from './search.ts';
import { EsimService } from './service.ts';
import { Session } from './session.ts';
import { tags } from './tags.ts';
import { TimelineEntry } from './timeline.ts';
import { UsageRecordBatch } from './usage-record.ts';
import { WebhookEndpoint } from './webhook-endpoint.ts';
import { WebhookProbe } from './webhook-probe.ts';

/** Derives the OpenAPI 3.1 document from the operations. */
export function openApiDocument() {
  const named = namedSchemas(operations, Object.values(components));
  const paths: Record<string, Record<string, unknown>> = {};
  for (const [id, definition] of Object.entries(operations) as [string, Operation][]) {
    paths[definition.path] = {
      ...paths[definition.path],
      [definition.method.toLowerCase()]: {
        ...describeOperation(id, definition, named),
        ...(id === 'createWebhookEndpoint' && { callbacks: describeCallbacks() }),
      },
    };
  }
  return {
    openapi: '3.1.0',
    info: {
      title: 'Simplane',
      version: currentApiVersion,
      summary: 'Provision eSIMs over HTTP.',
      description:
        'Every request needs `Authorization: Bearer <API_KEY>`. Every POST, PUT, PATCH and DELETE accepts an ' +
        '`Idempotency-Key`: a retry within 24 hours returns the original response, and the work runs once. ' +
        `Lists are sorted newest first unless stated otherwise, and paginated with \`limit\` and \`starting_after\`. ${nullRule}`,
      contact: { name: 'The operator of this deployment' },
      license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
    },
    servers: [{ url: '/', description: 'This deployment' }],
    security: [{ apiKey: [] }],
    tags: Object.entries(tags).map(([name, description]) => ({ name, description })),
    paths,
    webhooks: describeWebhooks(),
    components: {
      securitySchemes: {
        apiKey: {
          type: 'http',
          scheme: 'bearer',
          description: '`sp_test_…` in a sandbox, `sp_live_…` in live mode.',
        },
        operatorKey: {
          type: 'http',
          scheme: 'bearer',
          description:
            'A key with the `operator` scope, for the whole deployment. `simplane-server keys create --scopes operator` creates one.',
        },
      },
      headers: {
        RequestId: { description: 'Id of the request, for logs and support.', schema: { type: 'string' } },
        ServiceVersion: {
          description: 'API version of the response.',
          schema: { type: 'string', enum: [...apiVersions] },
        },
        RetryAfter: { description: 'Seconds to wait before retrying.', schema: { type: 'integer' } },
        IdempotentReplayed: {
          description: '`true` if this is the stored response of an earlier request.',
          schema: { type: 'string', const: 'true' },
        },
        Location: { description: 'URL to check the status of the work.', schema: { type: 'string' } },
      },
      schemas: Object.fromEntries(
        [...named].map(([name, schema]) => [name, linkSchemas(schema, named, name)]),
      ),
    },
  };
}

/** The resources of the API, by name. The SDK has a type for each. */
export const components: Record<string, object> = {
  Account,
  ApiKey,
  AuditEntry,
  Batch,
  BatchInstallProfiles,
  Branding,
  Bundle,
  CatalogProduct,
  CoreResync,
  Delivery,
  DeliveryAttempt,
  DryRun,
  EndpointHealth,
  Error: ErrorBody,
  Esim,
  EsimService,
  EsimUsage,
  Event,
  EventConsumer,
  EventType,
  Execution,
  IccidRange,
  FailureGroup,
  Identity,
  InstallLink,
  InstallProfile,
  Network,
  OperatorOverview,
  Process,
  RequestLogEntry,
  OperatorAuditEntry,
  Overview,
  OperatorExecution,
  Product,
  Recovery,
  RecoveryPreview,
  SearchResult,
  ServiceChange,
  Session,
  TimelineEntry,
  UsageRecordBatch,
  WebhookEndpoint,
  WebhookEndpointStats,
  WebhookProbe,
};
