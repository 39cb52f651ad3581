/** A balancer of the tests' own, as simple as one can be that asks who is ready. */
export interface Balancer extends AsyncDisposable {
  url: string
  /** Requests that it could not pass on, or whose answers broke off, and why. */
  failures: string[]
}

interface Options {
  /** Addresses of nodes, as they are at this moment; a node that starts anew may have another. */
  targets: () => readonly string[]
  /** Between two questions to a node. */
  probeMs: number
}

const answerMs = 1000

/**
 * Passes each request on to a node that said, when it was last asked, that it is ready; by turns, over
 * connections that are kept. Nothing is sent twice: what a node loses, a client has lost.
 */
export function startBalancer({ targets, probeMs }: Options): Balancer {
  const ready = new Set<string>()
  const failures: string[] = []
  const probe = async (target: string) => {
    const asked = fetch(`${target}/readyz`, {
      signal: AbortSignal.timeout(answerMs),
      // A probe has a connection of its own.
      headers: { connection: 'close' },
      keepalive: false,
    })
    const isReady = await asked.then(
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
      failures.push('nobody is ready')
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
    async [Symbol.asyncDispose]() {
      clearInterval(probing)
      await server.stop(true)
    },
  }
}
