/** Reads the event feed; runs as a child process. */
import { serveTasks } from '../support/child.ts';
import { countIdleStreams, followStream, openIdleStreams, readStream } from './feed-streams.ts';
import { readFeedPages } from './read-feed-pages.ts';
import { receiptTasks } from './receipts.ts';

serveTasks({ followStream, openIdleStreams, countIdleStreams, readStream, readFeedPages, ...receiptTasks });
