import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { answerModels, describeModels, type ModelList } from "../src/models.ts";

const SOME: ModelList = {
	provider: "mine",
	models: [
		{ provider: "other", id: "fast-1" },
		{ provider: "mine", id: "slow-2" },
		{ provider: "another", id: "fast-1" },
		{ provider: "mine", id: "fast-3" },
	],
};

function rows(text: string): string[] {
	return text.split("\n").slice(1);
}

describe("the list of models", () => {
	test("has the session's own provider first and starred, each as provider/id", () => {
		assert.deepEqual(rows(describeModels("", SOME).text), ["* mine/fast-3", "* mine/slow-2", "  another/fast-1", "  other/fast-1"]);
	});

	test("is searched by a part of provider or id, whatever its case", () => {
		assert.deepEqual(rows(describeModels(" FAST ", SOME).text), ["* mine/fast-3", "  another/fast-1", "  other/fast-1"]);
		assert.deepEqual(rows(describeModels("other/", SOME).text), ["  another/fast-1", "  other/fast-1"]);
	});

	test("holds at most 40, and says how many there are", () => {
		const many = { provider: "p49", models: Array.from({ length: 50 }, (_, index) => ({ provider: `p${index}`, id: "m" })) };
		const { text, details } = describeModels("", many);
		assert.equal(rows(text).length, 40);
		assert.equal(rows(text)[0], "* p49/m");
		assert.match(text, /^50 models, of which the first 40 are listed/);
		assert.deepEqual(details, { total: 50 });
		assert.doesNotMatch(describeModels("p1", many).text, /of which/);
	});

	test("says where none matches, and stars none where the session has no model", () => {
		assert.equal(describeModels("gpt", SOME).text, 'No models with "gpt" can be used here; 4 models can.');
		assert.doesNotMatch(describeModels("", { models: SOME.models }).text, /^\* /m);
	});

	test("is one line a model, whatever the catalog or the query holds", () => {
		const { text } = describeModels("x\n\u001b[2J", { models: [{ provider: "evil", id: "x\n\u001b[2Jmodel" }] });
		assert.deepEqual(text.split("\n").length, 2);
		assert.doesNotMatch(text.replaceAll("\n", ""), /[\u0000-\u001f]/);
	});

	test("answers a call of the tool with any arguments", () => {
		assert.deepEqual(rows(answerModels({ query: "slow" }, SOME).text), ["* mine/slow-2"]);
		for (const args of [undefined, {}, { query: 7 }]) assert.equal(rows(answerModels(args, SOME).text).length, 4);
	});
});
