// A worker of stop_test.py: stop_worker.mjs SERVER LEDGER TYPE
import { Worker } from '../../clients/typescript/cairn-worker.mjs';

const [server, ledger, type] = process.argv.slice(2);
const worker = new Worker(server, { concurrency: 4, pollMs: 5_000 });
worker.handle(type, async (run) => {
  const headers = { 'content-type': 'application/json', 'idempotency-key': run.idempotencyKey };
  const response = await fetch(`${ledger}/effects`, { method: 'POST', headers, body: JSON.stringify(run.payload) });
  return response.json();
});
const asked = new Promise((resolve) => process.once('SIGTERM', resolve));
worker.start();
console.log('working');
await asked;
await worker.stop();
process.exit(0); // fetch keeps its connections
