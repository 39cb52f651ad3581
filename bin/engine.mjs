// What the engine is told by its environment: by the launcher, and by the single executable when it
// starts. Plain JavaScript without dependencies, for any Node from 18 on.

/** A proxy would take the place of the guard over where upstream requests may go. */
const proxyNames = ['HTTP_PROXY', 'HTTPS_PROXY', 'ALL_PROXY', 'NO_PROXY']

/**
 * The environment that the server runs in, made of another one, and the names of the proxies in that,
 * which are ignored. Of its own result it makes the same again.
 */
export function engineEnvironment(given) {
  const environment = { ...given }
  // Bun allows 256 fetches at a time, and 65535 at most. Providers are asked without fetch; the clients of
  // bench and tests, and libraries, use it.
  environment.BUN_CONFIG_MAX_HTTP_REQUESTS ||= '65535'
  // The engine lets the heap double between two whole collections as long as the process has less than
  // four fifths of the memory it believes in. A busy gateway has 210 to 250 MB: believing in 280 MB it
  // collected four times as often, and a request cost half more CPU. Not a limit.
  environment.BUN_JSC_forceRAMSize ||= '400000000'
  // What the heap may grow to before garbage is collected: half more than what the server holds when
  // idle, or every second collection is a whole one.
  environment.BUN_JSC_largeHeapSize ||= '60000000'
  // Milliseconds for which the allocator keeps what was freed before the kernel gets it back. By default it gave
  // back, again and again, what the next batch of the ledger took: 5 µs of a request. The peak is the same.
  environment.MIMALLOC_PURGE_DELAY ||= '1000'
  const proxies = proxyNames.flatMap((name) => [name, name.toLowerCase()])
  const ignored = proxies.filter((name) => environment[name])
  // Empty, not absent: what is absent Bun takes from a .env file in the working directory.
  for (const name of proxies) environment[name] = ''
  return { environment, ignored }
}

/** That of `tollgate connect`, whose owner decides on proxies; it guards nobody's addresses. */
export function agentEnvironment(given) {
  const { environment } = engineEnvironment(given)
  for (const name of proxyNames.flatMap((one) => [one, one.toLowerCase()])) {
    environment[name] = given[name] ?? ''
  }
  return environment
}

/** Says so, for whoever starts the server. */
export const ignoredProxies = (names) =>
  `tollgate: ${names.join(', ')} ignored: upstreams are reached directly.`
