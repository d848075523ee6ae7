// An example worker that charges cards; a test runs it: node example.mjs http://127.0.0.1:8400
import { setTimeout as sleep } from 'node:timers/promises';

import { BusinessError, RetryLater, Worker } from './cairn-worker.mjs';

const worker = new Worker(process.argv[2], { concurrency: 4, name: 'billing' });

worker.handle('billing.charge.v1', (run) => {
  const { amount } = run.payload;
  if (typeof amount !== 'number') throw new TypeError('a charge needs an amount');
  if (amount > 1000) throw new BusinessError('limit', 'more than this card may be charged', { limit: 1000 });
  if (amount < 0 && run.attempt === 1) throw new RetryLater(0, { message: 'the bank is closed at the first attempt' });
  return { charged: amount, key: run.idempotencyKey, attempt: run.attempt, trace: run.traceparent };
});

// This takes longer than the lease: the client extends it. It ends early if the run is cancelled.
worker.handle('billing.slow.', async (run) => {
  await sleep(run.payload.seconds * 1000, undefined, { signal: run.signal });
  return 'done';
});

console.log('working');
await worker.run();
