const [lowest, count] = [12_000, 8_000]
/** Of this process: two servers that a test starts at once are not to get one port. */
const chosen = new Set<number>()

/**
 * Returns a port of 127.0.0.1 that is free. It is below those that the system gives to connections and to whatever else
 * tests open: one of them could take it before it is listened on, or while its server is down.
 */
export function freePort(): number {
  for (;;) {
    const port = lowest + Math.floor(Math.random() * count)
    if (chosen.has(port)) continue
    try {
      using _probe = Bun.listen({ hostname: '127.0.0.1', port, socket: { data: () => undefined } })
      chosen.add(port)
      return port
    } catch {
      // It is in use.
    }
  }
}
