// Reads every include of the C++ rooms and every import of the extension and
// fails on one that points the wrong way (DESIGN.md 3). Usage:
//   node tests/check/layering.mjs [ROOT]
import { readdirSync, readFileSync } from "node:fs";
import { dirname, join, normalize, relative } from "node:path";
import { fileURLToPath } from "node:url";

const root = process.argv[2] ?? fileURLToPath(new URL("../..", import.meta.url));

// Each room of the broker and the rooms that it may include, itself aside.
const base = ["base"];
const domain = [...base, "domain"];
const stored = [...domain, "config", "storage"];
const routed = [...stored, "roster", "routing"];
const ROOMS = new Map([
	["base", []],
	["domain", base],
	["config", domain],
	["storage", domain],
	["roster", stored],
	["routing", [...stored, "roster"]],
	["work", routed],
	// rpc sits above all of them but never touches storage.
	["rpc", [...routed, "work"].filter((room) => room !== "storage")],
	["server", [...routed, "work", "rpc"]],
	["main", [...routed, "work", "rpc", "server"]],
]);

// System headers that domain must not know: it has no clock, lock, file or socket.
const NOT_IN_DOMAIN = new Set([
	...["mutex", "shared_mutex", "thread", "condition_variable", "atomic", "future", "semaphore", "pthread.h"],
	...["chrono", "ctime", "time.h", "sys/time.h", "absl/time/clock.h", "absl/synchronization/mutex.h"],
	...["fstream", "filesystem", "cstdio", "stdio.h", "fcntl.h", "unistd.h", "sys/stat.h", "sys/file.h", "dirent.h"],
	...["sys/socket.h", "sys/un.h", "netinet/in.h", "arpa/inet.h", "netdb.h", "poll.h", "sys/epoll.h"],
	...["broker/base/clock.h", "broker/base/mutex.h", "broker/base/task_runner.h", "broker/base/home.h"],
]);

/** Every file below `directory` with one of the endings, sorted. */
function files(directory, endings) {
	let entries;
	try {
		entries = readdirSync(join(root, directory), { withFileTypes: true });
	} catch {
		return [];
	}
	return entries
		.flatMap((entry) => {
			const path = join(directory, entry.name);
			if (entry.isDirectory()) return entry.name === "node_modules" ? [] : files(path, endings);
			return endings.some((ending) => entry.name.endsWith(ending)) ? [path] : [];
		})
		.sort();
}

/** The room of a path such as broker/rpc/x.cc; files of broker/ itself are main. */
function brokerRoom(path) {
	const parts = path.split("/");
	return parts.length > 2 ? parts[1] : "main";
}

const isGrpc = (header) => /^grpc(pp|\+\+)?\//.test(header) || header.endsWith(".grpc.pb.h");

/** Why a broker file must not include `header`; undefined if it may. */
function brokerFault(room, header) {
	if (header.startsWith("broker/")) {
		const other = brokerRoom(header);
		if (other !== room && !ROOMS.get(room).includes(other)) return `${room} must not know ${other}`;
	}
	if (header.startsWith("worker-agent/")) return "the broker knows nothing of worker-agent";
	if (header === "sqlite3.h" && room !== "storage") return "only storage includes sqlite3.h";
	if (isGrpc(header) && !["rpc", "server", "main"].includes(room)) {
		return "only rpc, server and worker-agent include gRPC";
	}
	if (room === "domain" && NOT_IN_DOMAIN.has(header)) return "domain knows no clock, lock, file or socket";
	return undefined;
}

function agentFault(header) {
	if (header.startsWith("broker/") && !["base", "domain"].includes(brokerRoom(header))) {
		return "worker-agent knows of the broker only base and domain";
	}
	if (header === "sqlite3.h") return "only storage includes sqlite3.h";
	return undefined;
}

/** Why an extension file must not import `name`; undefined if it may. */
function extensionFault(path, name) {
	if (name.startsWith("node:") || name.startsWith("@earendil-works/pi-") || /^typebox(\/|$)/.test(name)) return undefined;
	if (!name.startsWith(".")) return "the extension imports only node: and Pi's peers";
	const target = normalize(join(dirname(path), name));
	// Other extensions import it, too: it is where they find it.
	if (target === "extension/extension-api.ts") return undefined;
	const home = path.startsWith("extension/test/") ? "extension/" : "extension/src/";
	return target.startsWith(home) ? undefined : `it leaves ${home}`;
}

const faults = [];
let read = 0;
function check(paths, pattern, fault) {
	for (const path of paths) {
		read++;
		for (const [index, line] of readFileSync(join(root, path), "utf8").split("\n").entries()) {
			const name = pattern.exec(line)?.[1];
			const why = name === undefined ? undefined : fault(path, name);
			if (why !== undefined) faults.push(`${path}:${index + 1}: ${name}: ${why}`);
		}
	}
}

const INCLUDE = /^\s*#\s*include\s*[<"]([^>"]+)[>"]/;
const IMPORT = /(?:^|[\s;(])(?:import|from|require)\s*\(?\s*["']([^"']+)["']/;
const cpp = [".h", ".cc"];
const code = [".ts", ".mts", ".mjs", ".js"];

const broker = files("broker", cpp);
for (const path of broker) {
	if (!ROOMS.has(brokerRoom(path))) faults.push(`${path}: broker has no room ${brokerRoom(path)}`);
}
check(broker.filter((path) => ROOMS.has(brokerRoom(path))), INCLUDE, (path, name) =>
	brokerFault(brokerRoom(path), name),
);
check(files("worker-agent", cpp), INCLUDE, (_path, name) => agentFault(name));
check([...files("extension/src", code), ...files("extension/test", code)], IMPORT, extensionFault);

for (const fault of faults) console.log(fault);
if (read === 0) faults.push(`nothing to read below ${relative(process.cwd(), root) || "."}`);
console.log(`${read} files read, ${faults.length} wrong`);
process.exitCode = faults.length > 0 ? 1 : 0;
