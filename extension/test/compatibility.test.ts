import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { capabilitiesOf, unverified } from "../src/compatibility.ts";
import { FakePi } from "./support/fake-pi.ts";

const work = (): void => undefined;
const functions = { pi: new FakePi("s", "/").api, ctx: { isIdle: work, abort: work, hasPendingMessages: work, shutdown: work } };

describe("stop and close", () => {
	test("are announced on 1.6.0, which is verified", () => assert.deepEqual(capabilitiesOf("1.6.0", functions), ["stop", "close"]));

	for (const version of ["0.84.4", "1.5.9", "1.6.1", "1.6.17", "01.6.0", "1.7.0", "2.6.0", "11.6.0", "1.6", "1.6.0-beta.1", "1.6.0.1", ""]) {
		test(`are not announced on "${version}", which is not`, () => assert.deepEqual(capabilitiesOf(version, functions), []));
	}

	for (const missing of ["isIdle", "abort", "hasPendingMessages", "shutdown"]) {
		test(`are not announced where ${missing} is missing`, () => assert.deepEqual(capabilitiesOf("1.6.0", { ...functions, ctx: { ...functions.ctx, [missing]: undefined } }), []));
	}

	for (const missing of ["registerCommand", "getCommands", "sendUserMessage"]) {
		test(`are not announced where ${missing} is missing`, () => assert.deepEqual(capabilitiesOf("1.6.0", { ...functions, pi: { ...functions.pi, [missing]: undefined } }), []));
	}

	test("are refused with the version, what is verified, that nothing was done, and how to verify another", () => {
		const text = unverified("stop", "1.6.1");
		assert.match(text, /^this host is Pi 1\.6\.1, which is not known to stop safely \(verified: 1\.6\.0\); nothing was done\. /);
		assert.match(text, /npm run test:live.*verified-hosts\.json$/);
	});
});
