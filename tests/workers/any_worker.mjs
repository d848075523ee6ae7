// A worker of prefixes_test.py: any_worker.mjs SERVER. Its only handler takes every type.
import { Worker } from '../../clients/typescript/cairn-worker.mjs';

const worker = new Worker(process.argv[2], { concurrency: 2 });
worker.handle('*', (run) => run.type);
const asked = new Promise((resolve) => process.once('SIGTERM', resolve));
worker.start();
console.log('working');
await asked;
await worker.stop();
process.exit(0); // fetch keeps its connections
