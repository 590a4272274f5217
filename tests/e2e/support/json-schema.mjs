// As much of JSON Schema as `intercom schema` writes, and no more: a word that it does not know is a fault of the schema.

const ANNOTATIONS = new Set(["$schema", "$defs", "title", "description", "contentEncoding"]);
// A time as protobuf writes it.
const DATE_TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{1,9})?Z$/;

const TYPES = {
	object: (value) => typeof value === "object" && value !== null && !Array.isArray(value),
	array: Array.isArray,
	string: (value) => typeof value === "string",
	number: (value) => typeof value === "number",
	integer: Number.isInteger,
	boolean: (value) => typeof value === "boolean",
};

/** What is wrong with `value` by `schema`, a sentence each; none: it is valid. */
export function faultsOf(schema, value, root = schema, at = "$") {
	const faults = [];
	const check = (holds, what) => holds || faults.push(`${at}: ${what}: ${JSON.stringify(value)?.slice(0, 200)}`);
	if (schema === false) check(false, "must not be there");
	if (typeof schema === "boolean") return faults;
	for (const [word, wants] of Object.entries(schema)) {
		if (ANNOTATIONS.has(word)) continue;
		switch (word) {
			case "$ref":
				faults.push(...faultsOf(definition(root, wants), value, root, at));
				break;
			case "anyOf": {
				const each = wants.map((one) => faultsOf(one, value, root, at));
				if (!each.some((found) => found.length === 0)) faults.push(...each.flat());
				break;
			}
			case "type":
				check(TYPES[wants](value), `is no ${wants}`);
				break;
			case "enum":
				check(wants.includes(value), "is none of the values");
				break;
			case "pattern":
				check(typeof value !== "string" || new RegExp(wants, "u").test(value), `does not match ${wants}`);
				break;
			case "format":
				check(wants === "date-time" && DATE_TIME.test(value), `is no ${wants}`);
				break;
			case "minimum":
				check(!(value < wants), `is below ${wants}`);
				break;
			case "maximum":
				check(!(value > wants), `is above ${wants}`);
				break;
			case "items":
				if (Array.isArray(value)) for (const [index, item] of value.entries()) faults.push(...faultsOf(wants, item, root, `${at}[${index}]`));
				break;
			case "properties":
				for (const [name, one] of Object.entries(wants)) if (TYPES.object(value) && Object.hasOwn(value, name)) faults.push(...faultsOf(one, value[name], root, `${at}.${name}`));
				break;
			case "additionalProperties":
				for (const name of TYPES.object(value) ? Object.keys(value) : []) {
					if (!Object.hasOwn(schema.properties ?? {}, name)) faults.push(...faultsOf(wants, value[name], root, `${at}.${name}`));
				}
				break;
			default:
				throw new Error(`${at}: the schema has the unknown word ${word}`);
		}
	}
	return faults;
}

function definition(root, reference) {
	const found = root.$defs?.[reference.replace("#/$defs/", "")];
	if (found === undefined) throw new Error(`nothing is at ${reference}`);
	return found;
}
