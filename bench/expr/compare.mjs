// compare.mjs BENCH: runs the expressions in JavaScript and in BENCH (expr_compare_bench) and prints one table.
// Each side gets compiled expressions and is timed alone, one after the other, in one run, by the processor
// time it takes, so that other programs disturb less.
import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { isDeepStrictEqual } from "node:util";
import * as celjs from "cel-js";
import * as marcbachmann from "@marcbachmann/cel-js";

const { context, expressions } = JSON.parse(readFileSync(new URL("expressions.json", import.meta.url), "utf8"));
const seconds = Number(process.env.BENCH_SECONDS ?? 0.5);

// Whole numbers are BigInt in one of them; the comparison of results does not care.
const plain = (value) =>
  typeof value === "bigint" ? Number(value)
  : value instanceof Map ? Object.fromEntries([...value].map(([k, v]) => [k, plain(v)]))
  : Array.isArray(value) ? value.map(plain)
  : value && typeof value === "object" ? Object.fromEntries(Object.entries(value).map(([k, v]) => [k, plain(v)]))
  : value;

// That implementation has ints as BigInt, so whole numbers of the data must be.
const whole = (value) =>
  Number.isInteger(value) ? BigInt(value)
  : Array.isArray(value) ? value.map(whole)
  : value && typeof value === "object" ? Object.fromEntries(Object.entries(value).map(([k, v]) => [k, whole(v)]))
  : value;

const engines = {
  "cel-js": (expr) => {
    const { isSuccess, cst, errors } = celjs.parse(expr);
    if (!isSuccess) throw new Error(errors.join("; "));
    return () => celjs.evaluate(cst, context);
  },
  "@marcbachmann/cel-js": (expr) => {
    const program = marcbachmann.parse(expr);
    const data = whole(context);
    return () => program(data);
  },
};

// Median of five rounds, each long enough for the clock not to matter, after the compiler has warmed up.
function nanoseconds(run) {
  let count = 1;
  for (const end = performance.now() + 200 * seconds; performance.now() < end; count++) run();
  count = Math.max(1, Math.floor(count));
  const rounds = [];
  for (let i = 0; i < 5; i++) {
    const begin = process.cpuUsage();
    for (let j = 0; j < count; j++) run();
    const used = process.cpuUsage(begin);
    rounds.push(((used.user + used.system) * 1e3) / count);
  }
  return rounds.sort((a, b) => a - b)[2];
}

const ours = {};
const written = execFileSync(process.argv[2], [
  "--benchmark_format=json", `--benchmark_min_time=${seconds}`, "--benchmark_repetitions=3",
  "--benchmark_report_aggregates_only=true", "--benchmark_filter=evaluate/",
], { encoding: "utf8", stdio: ["ignore", "pipe", "ignore"] });
// The spread of a counter that is always 0 is written as NaN.
const report = JSON.parse(written.replaceAll(": NaN", ": null"));
for (const one of report.benchmarks) {
  if (one.aggregate_name === "median") ours[one.run_name.replace("evaluate/", "")] = one;
}

const names = Object.keys(engines);
console.log(`| expression | cairn ns | allocations | ${names.map((n) => `${n} ns | times`).join(" | ")} |`);
console.log(`| --- | --- | --- | ${names.map(() => "--- | ---").join(" | ")} |`);
const least = Object.fromEntries(names.map((name) => [name, Infinity]));
for (const { name, expr } of expressions) {
  const cells = [];
  let first;
  for (const engine of names) {
    const run = engines[engine](expr);
    const result = plain(run());
    first ??= result;
    if (!isDeepStrictEqual(result, first)) throw new Error(`${engine} gives another result for ${expr}`);
    const time = nanoseconds(run);
    const ratio = time / ours[name].cpu_time;
    least[engine] = Math.min(least[engine], ratio);
    cells.push(time.toFixed(0), ratio.toFixed(1));
  }
  console.log(`| ${name} | ${ours[name].cpu_time.toFixed(0)} | ${ours[name].allocations.toFixed(1)} | ${cells.join(" | ")} |`);
}
console.log(`\nleast ratio: ${names.map((n) => `${n} ${least[n].toFixed(1)}`).join(", ")}; node ${process.version}`);
