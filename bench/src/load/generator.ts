/** The load generator; runs as a child process. */
import { serveTasks } from '../support/child.ts';
import { bareAccepts } from './bare-accepts.ts';
import { bareDeliveries } from './bare-deliveries.ts';
import { bareInserts } from './bare-inserts.ts';
import { barePosts } from './bare-posts.ts';
import { insertEvents } from './insert-events.ts';
import { postEvents } from './post-events.ts';
import { postOrders } from './post-orders.ts';

serveTasks({ postOrders, postEvents, insertEvents, bareAccepts, bareDeliveries, bareInserts, barePosts });
