/** A minimal load balancer with readiness probes, for tests. */
export interface Balancer extends AsyncDisposable {
  url: string
  /** Reasons of requests that it could not forward, or whose answers were cut off. */
  failures: string[]
  /** Returns the addresses that were ready at their last probe. */
  found: () => string[]
}

interface Options {
  /** Returns the current addresses of nodes; a restarted node may have another. */
  targets: () => readonly string[]
  /** Interval of probes of a node. */
  probeMs: number
}

/** A slow machine answers late; a node that is gone refuses the connection at once. */
const answerMs = 10_000

/**
 * Forwards each request to a node that was ready at its last probe; round robin, over
 * kept-alive connections. Requests are not retried: a request lost by a node is lost for its client.
 */
export function startBalancer({ targets, probeMs }: Options): Balancer {
  const ready = new Set<string>()
  const failures: string[] = []
  const probe = async (target: string) => {
    const readiness = fetch(`${target}/readyz`, {
      signal: AbortSignal.timeout(answerMs),
      // A probe has its own connection.
      headers: { connection: 'close' },
      keepalive: false,
    })
    const isReady = await readiness.then(
      async (response) => (await response.text(), response.status === 200),
      () => false,
    )
    if (isReady) ready.add(target)
    else ready.delete(target)
  }
  const probing = setInterval(() => {
    for (const known of ready) if (!targets().includes(known)) ready.delete(known)
    for (const target of targets()) void probe(target)
  }, probeMs)
  let turn = 0
  const next = () => [...ready][turn++ % ready.size]
  const pass = async (request: Request) => {
    const target = next()
    const path = new URL(request.url).pathname
    if (target === undefined) {
      failures.push('no node is ready')
      return new Response(null, { status: 502 })
    }
    try {
      const answer = await fetch(`${target}${path}`, {
        method: request.method,
        headers: request.headers,
        body: await request.bytes(),
      })
      return new Response(answer.body, { status: answer.status, headers: answer.headers })
    } catch (thrown) {
      failures.push(`${target}: ${String(thrown)}`)
      return new Response(null, { status: 502 })
    }
  }
  const server = Bun.serve({ port: 0, hostname: '127.0.0.1', idleTimeout: 0, fetch: pass })
  return {
    url: `http://127.0.0.1:${server.port}`,
    failures,
    found: () => [...ready],
    async [Symbol.asyncDispose]() {
      clearInterval(probing)
      await server.stop(true)
    },
  }
}
