/** The verdict of the upstream behind the proxy on one request. */
export interface Verdict {
  path: string
  isValid: boolean
  /** Its message, where the request is invalid. */
  words: string
}

/** A proxy in front of `steady`, whose verdicts are headers that a gateway does not forward. */
export interface RecordingProxy extends AsyncDisposable {
  /** The address, with `/v1`. */
  url: string
  /** Verdicts since the last call. */
  taken: () => Verdict[]
}

const startMs = 120_000
const host = '127.0.0.1'

/** Rejects with its output where it does not start. */
async function startSteady(command: readonly string[]) {
  // A port that was free a moment ago: it cannot choose one by itself.
  const probe = Bun.listen({ hostname: host, port: 0, socket: { data() {} } })
  const { port } = probe
  probe.stop(true)
  const child = Bun.spawn([...command, '--host', host, '--port', String(port)], {
    stdin: 'ignore',
    stdout: 'ignore',
    stderr: 'ignore',
  })
  const url = `http://${host}:${port}`
  const deadline = performance.now() + startMs
  while (child.exitCode === null && performance.now() < deadline) {
    const isUp = await fetch(url).then(
      () => true,
      () => false,
    )
    if (isUp) return { child, url }
    await Bun.sleep(100)
  }
  child.kill('SIGKILL')
  throw new Error('steady did not start')
}

function verdictOf(path: string, headers: Headers): Verdict {
  const words = [...headers].filter(([name]) => /^x-steady-error-\d/.test(name))
  return {
    path,
    isValid: headers.get('x-steady-request-valid') === 'true',
    words: words.map(([, value]) => value).join(' '),
  }
}

/** Starts `steady` and the proxy in front of it. `command` names the program and the description. */
export async function startRecordingProxy(command: readonly string[]): Promise<RecordingProxy> {
  const { child, url } = await startSteady(command)
  let verdicts: Verdict[] = []
  const server = Bun.serve({
    hostname: host,
    port: 0,
    idleTimeout: 60,
    async fetch(request) {
      const path = new URL(request.url).pathname.replace(/^\/v1/, '')
      const headers = new Headers(request.headers)
      headers.delete('host')
      const body = await request.arrayBuffer()
      const answer = await fetch(`${url}${path}`, { method: request.method, headers, body })
      verdicts.push(verdictOf(path, answer.headers))
      const type = answer.headers.get('content-type') ?? 'application/json'
      return new Response(await answer.arrayBuffer(), {
        status: answer.status,
        headers: { 'content-type': type },
      })
    },
  })
  return {
    url: `http://${host}:${server.port}/v1`,
    taken() {
      const taken = verdicts
      verdicts = []
      return taken
    },
    async [Symbol.asyncDispose]() {
      await server.stop(true)
      child.kill('SIGKILL')
      await child.exited
    },
  }
}
