import {
  acknowledgeEvents,
  deleteEventConsumer,
  getEventConsumer,
  listEventConsumers,
  putEventConsumer,
  seekEventConsumer,
} from '../event-feed.ts';
import { ofDeployment } from './of-deployment.ts';

export const putOperatorEventConsumer = ofDeployment(putEventConsumer, {
  summary: 'Create a consumer of all accounts’ events',
  description:
    'Creates a consumer of the operator’s feed at the place `after`. If one with this name exists, returns it unchanged. The deployment can have 100, apart from the accounts’ own.',
});

export const listOperatorEventConsumers = ofDeployment(listEventConsumers, {
  summary: 'List consumers of all accounts’ events',
  description: 'Returns the consumers of the operator’s feed by name, and how far behind each one is.',
});

export const getOperatorEventConsumer = ofDeployment(getEventConsumer, {
  summary: 'Get a consumer of all accounts’ events',
  description: 'Returns a consumer of the operator’s feed and how far behind it is.',
});

export const deleteOperatorEventConsumer = ofDeployment(deleteEventConsumer, {
  summary: 'Delete a consumer of all accounts’ events',
  description: 'Deletes the consumer and its place in the operator’s feed. No events are deleted.',
});

export const acknowledgeOperatorEvents = ofDeployment(acknowledgeEvents, {
  summary: 'Acknowledge events of all accounts',
  description:
    'Moves the consumer forward to `cursor`. A cursor behind its place is refused: another program is using the same name.',
});

export const seekOperatorEventConsumer = ofDeployment(seekEventConsumer, {
  summary: 'Move a consumer of all accounts’ events',
  description: 'Moves the consumer to any place of the operator’s feed, back or forward.',
});
