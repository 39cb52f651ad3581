// The environment variables of the JavaScript engine, set by the launcher and by the single executable when it
// starts. Plain JavaScript without dependencies, for Node 18 and later.

import { cpus, totalmem } from 'node:os'

/** A proxy would bypass the guard over the addresses that upstream requests may reach. */
const proxyNames = ['HTTP_PROXY', 'HTTPS_PROXY', 'ALL_PROXY', 'NO_PROXY']

const [leastBytes, mostBytes] = [400_000_000, 700_000_000]

/** Returns the memory of the machine, or of the container, in bytes. */
export function memoryBytes() {
  // 0, or more than there is, without a limit of the control group; absent before Node 19.6.
  const limit = process.constrainedMemory?.() || Infinity
  return Math.min(totalmem(), limit)
}

/**
 * Returns the memory in bytes that a process may fill before the engine collects as often as it can: half of what there is,
 * shared by a worker on each processor.
 */
export function collectedBytes(memory = memoryBytes(), processors = cpus().length) {
  return Math.max(leastBytes, Math.min(mostBytes, Math.floor(memory / 2 / processors)))
}

/**
 * Returns the environment that the server runs in, derived from `given`, and the names of the proxy variables in
 * `given`, which are ignored. Idempotent: applied to its own result it changes nothing.
 */
export function engineEnvironment(given) {
  const environment = { ...given }
  // Bun allows 256 concurrent fetches by default, and 65535 at most. Upstream requests do not use fetch; the
  // clients of bench and tests, and libraries, do.
  environment.BUN_CONFIG_MAX_HTTP_REQUESTS ||= '65535'
  // The engine lets the heap double between two full collections as long as the process uses less than
  // four fifths of the memory size configured here. A busy gateway uses 210 to 250 MB: with 280 MB the engine
  // collected four times as often, and a request cost 50 % more CPU. One with 5,000 open streams uses 400 MB: with
  // a size of 400 MB a request cost 82 % more than without the streams, with 700 MB as much. Not a limit.
  environment.BUN_JSC_forceRAMSize ||= String(collectedBytes())
  // Heap size before garbage is collected: at least 50 % above what the server holds when
  // idle, or every second collection is a full one.
  environment.BUN_JSC_largeHeapSize ||= '60000000'
  // Milliseconds for which the allocator keeps freed pages before it returns them to the kernel. By default it
  // returned, again and again, what the next ledger batch allocated: 5 µs of a request. The peak is the same.
  environment.MIMALLOC_PURGE_DELAY ||= '1000'
  const proxies = proxyNames.flatMap((name) => [name, name.toLowerCase()])
  const ignored = proxies.filter((name) => environment[name])
  // Empty, not absent: Bun reads absent variables from a .env file in the working directory.
  for (const name of proxies) environment[name] = ''
  return { environment, ignored }
}

/** Returns the environment of `tollgate connect`. Its owner decides on proxies; it guards no addresses. */
export function agentEnvironment(given) {
  const { environment } = engineEnvironment(given)
  for (const name of proxyNames.flatMap((one) => [one, one.toLowerCase()])) {
    environment[name] = given[name] ?? ''
  }
  return environment
}

/** Formats the log line that names the ignored proxy variables. */
export const ignoredProxies = (names) =>
  `tollgate: ${names.join(', ')} ignored: upstreams are reached directly.`
