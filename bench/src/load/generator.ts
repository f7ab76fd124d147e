/** The load generator, in a process of its own. */
import { answerTasks } from '../support/child.ts';
import { bareAccepts } from './bare-accepts.ts';
import { barePosts } from './bare-posts.ts';
import { postEvents } from './post-events.ts';
import { postOrders } from './post-orders.ts';

answerTasks({ postOrders, postEvents, bareAccepts, barePosts });
