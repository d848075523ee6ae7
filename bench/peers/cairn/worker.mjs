// The worker process: the TypeScript client with handlers that do nothing.
import { Worker } from '../../../clients/typescript/cairn-worker.mjs';
import { now } from '../lib/common.mjs';

const worker = new Worker(process.argv[2], { concurrency: Number(process.env.CONC ?? 256) });
worker.handle('bench.ok.v1', () => ({ ok: true }));
worker.handle('bench.lat.v1', (run) => { process.stdout.write(`${run.payload.i} ${now()}\n`); return null; });
await worker.run();
