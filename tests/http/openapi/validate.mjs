// node validate.mjs FILE: whether FILE is a valid OpenAPI 3.1 document.
import { readFileSync } from "node:fs";
import { Validator } from "@seriousme/openapi-schema-validator";

const validator = new Validator();
const result = await validator.validate(JSON.parse(readFileSync(process.argv[2], "utf8")));
if (!result.valid || validator.version !== "3.1") {
  console.error(JSON.stringify(result.errors ?? validator.version, null, 1));
  process.exit(1);
}
const paths = Object.values(validator.specification.paths);
console.log(`valid OpenAPI ${validator.version}: ${paths.length} paths`);
