// The worker process: the TypeScript client with handlers that do nothing.
import { Worker } from '../../../clients/typescript/cairn-worker.mjs';
import { now } from '../lib/common.mjs';

const worker = new Worker(process.argv[2], { concurrency: Number(process.env.CONC ?? 256) });
const wanted = Number(process.env.TELL_AT ?? 0); // says when it has handled so many
let handled = 0;
worker.handle('bench.ok.v1', () => {
  if (++handled === wanted) process.stdout.write('handled\n');
  return { ok: true };
});
worker.handle('bench.lat.v1', (run) => { process.stdout.write(`${run.payload.i} ${now()}\n`); return null; });
await worker.run();
