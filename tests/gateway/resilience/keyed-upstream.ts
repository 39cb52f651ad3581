type Answer = (body: Record<string, unknown>) => Response | Promise<Response>

/** A provider whose answers depend on the key that asks. */
export interface KeyedUpstream extends AsyncDisposable {
  /** Ending in /v1. */
  url: string
  /** From now on that key gets that answer; without one it gets a completion. */
  answer: (key: string, answer?: Answer) => void
  /** How often a key asked. */
  requestCount: (key: string) => number
  /** The bodies that a key sent, oldest first. */
  bodies: (key: string) => Record<string, unknown>[]
}

/** A refusal with that status. */
export const createRefusal =
  (status: number, headers: Record<string, string> = {}) =>
  () =>
    Response.json({ error: { message: 'Not now.' } }, { status, headers })

/** A good answer. */
export const completion = () =>
  Response.json({
    id: 'chatcmpl-1',
    object: 'chat.completion',
    created: 1,
    model: 'm',
    choices: [
      { index: 0, message: { role: 'assistant', content: 'All good.' }, finish_reason: 'stop' },
    ],
    usage: { prompt_tokens: 3, completion_tokens: 2, total_tokens: 5 },
  })

/** Starts one on a free port of the loopback interface. */
export function startKeyedUpstream(): KeyedUpstream {
  const answers = new Map<string, Answer>()
  const bodies = new Map<string, Record<string, unknown>[]>()
  const server = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    // An answer is silent for as long as its test wants.
    idleTimeout: 0,
    async fetch(request) {
      const key = request.headers.get('authorization')?.replace('Bearer ', '') ?? ''
      const sent: unknown = await request.json()
      const body = typeof sent === 'object' && sent !== null ? { ...sent } : {}
      const earlier = bodies.get(key)
      if (earlier) earlier.push(body)
      else bodies.set(key, [body])
      return (answers.get(key) ?? completion)(body)
    },
  })
  return {
    url: `http://127.0.0.1:${server.port}/v1`,
    answer: (key, answer = completion) => void answers.set(key, answer),
    requestCount: (key) => bodies.get(key)?.length ?? 0,
    bodies: (key) => bodies.get(key) ?? [],
    [Symbol.asyncDispose]: () => server.stop(true),
  }
}
