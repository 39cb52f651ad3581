import { parsed, type Json } from '../../harness/http'

/** A call as it reached the tools. */
export interface ToolRun {
  name: string
  arguments: Json
  timeoutMs: number
  maxBytes: number
  /** Set once the caller no longer waits. */
  isLeft: boolean
}

/** The tools of a self-hosted gateway, as the gateway's process gets them (preloads/tools-by-http.ts). */
export interface ToolServer extends AsyncDisposable {
  url: string
  /** Since the last reset. */
  ran: ToolRun[]
  /** What is announced; undefined where the gateway is not online. */
  announced: Json[] | undefined
  /** Runs a call; a string is its result. What it throws is a lost gateway. */
  run: (call: ToolRun) => string | Promise<string>
  reset: () => void
}

export const tool = (name: string): Json => ({
  name,
  description: `The ${name} tool.`,
  parameters: { type: 'object', properties: { text: { type: 'string' } }, required: ['text'] },
})

const echo = ({ arguments: args }: ToolRun) => JSON.stringify(args)
const lost = () => Response.json({ code: 'connection_failed' }, { status: 502 })

/** Starts them on a free port; each call is answered with its arguments, until `run` is set anew. */
export function startToolServer(): ToolServer {
  const listening = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    idleTimeout: 0,
    async fetch(request) {
      const body = parsed(await request.text())
      if (new URL(request.url).pathname === '/of') return Response.json({ tools: server.announced })
      const call: ToolRun = {
        name: String(body['name']),
        arguments: Object(body['arguments']),
        timeoutMs: Number(body['timeoutMs']),
        maxBytes: Number(body['maxBytes']),
        isLeft: false,
      }
      server.ran.push(call)
      request.signal.addEventListener('abort', () => {
        call.isLeft = true
      })
      try {
        return Response.json({ content: await server.run(call), isError: false })
      } catch {
        return lost()
      }
    },
  })
  const server: ToolServer = {
    url: `http://127.0.0.1:${listening.port}`,
    ran: [],
    announced: [tool('echo'), tool('look')],
    run: echo,
    reset() {
      server.ran = []
      server.announced = [tool('echo'), tool('look')]
      server.run = echo
    },
    async [Symbol.asyncDispose]() {
      await listening.stop(true)
    },
  }
  return server
}
