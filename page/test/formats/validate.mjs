/*
 * Validates JSON: validate.mjs SCHEMA FILE... SCHEMA is a file, or "sarif" or "speedscope" for the schema that the
 * format's own package carries. Prints what is wrong, a line each; exits with 1 where something is.
 */
import { readFileSync } from "node:fs";
import Ajv from "ajv";
import Ajv04 from "ajv-draft-04";
import formats from "ajv-formats";

const KNOWN = {
  sarif: "@microsoft/jest-sarif/lib/schemas/sarif-2.1.0-rtm.5.json",
  speedscope: "speedscope/dist/release/file-format-schema.json",
};
const MOST_ERRORS = 10;

const [wanted, ...files] = process.argv.slice(2);
const read = (file) => JSON.parse(readFileSync(file, "utf8"));
const schema = read(KNOWN[wanted] ? new URL(`../../node_modules/${KNOWN[wanted]}`, import.meta.url) : wanted);
const Validator = schema.$schema.includes("draft-04") ? Ajv04 : Ajv;
const ajv = new Validator({ allErrors: true, strict: false, unicodeRegExp: false });

formats(ajv);
const isValid = ajv.compile(schema);

for (const file of files) {
  if (isValid(read(file))) continue;
  process.exitCode = 1;
  for (const error of isValid.errors.slice(0, MOST_ERRORS))
    console.log(`${file}: ${error.instancePath || "the whole"} ${error.message} ${JSON.stringify(error.params)}`);
}
