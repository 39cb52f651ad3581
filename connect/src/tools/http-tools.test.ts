import { describe, expect, test } from 'bun:test'
import { createMcpHandler, McpServer } from '@modelcontextprotocol/server'
import { z } from 'zod'
import { ToolServer } from './tool-server'

const limits = { signal: new AbortController().signal, timeoutMs: 30_000, maxBytes: 1000 }

/** Starts a tool server that requires a token. */
function serve() {
  const seen: (string | null)[] = []
  const handler = createMcpHandler(() => {
    const server = new McpServer({ name: 'over http', version: '1.0.0' })
    const inputSchema = z.object({ text: z.string() })
    server.registerTool('shout', { description: 'Says it loud', inputSchema }, ({ text }) => ({
      content: [{ type: 'text', text: text.toUpperCase() }],
    }))
    return server
  })
  const listener = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    fetch: (request) => {
      const authorization = request.headers.get('authorization')
      seen.push(authorization)
      if (authorization !== 'Bearer let-me-in') return new Response('no', { status: 401 })
      return handler.fetch(request)
    },
  })
  return { seen, listener, url: `http://127.0.0.1:${listener.port}/mcp` }
}

async function started(url: string, token?: string) {
  const logLines: string[] = []
  const log = (_level: string, _event: string, message: string) => void logLines.push(message)
  const ports = { log, hide: (text: string) => text, firstMs: 100 }
  const server = new ToolServer({ name: 'web', allow: ['shout'], reach: { url, token } }, ports)
  await server.start(() => undefined)
  return { server, logLines, [Symbol.asyncDispose]: () => server[Symbol.asyncDispose]() }
}

describe('a tool server at an address', () => {
  test('is called with its token', async () => {
    const { seen, listener, url } = serve()
    await using one = await started(url, 'let-me-in')
    const [shout] = one.server.tools
    expect(shout?.announced.name).toBe('web_shout')
    expect(await shout?.call({ text: 'hi' }, limits)).toEqual({ content: 'HI', isError: false })
    expect(new Set(seen)).toEqual(new Set(['Bearer let-me-in']))
    await listener.stop(true)
    expect(await shout?.call({ text: 'hi' }, limits)).toMatchObject({ sent: true })
  })

  test('has no tools when it rejects the token, which is logged', async () => {
    const { listener, url } = serve()
    await using one = await started(url)
    expect(one.server.tools).toEqual([])
    expect(one.logLines[0]).toStartWith('The tools of web are unavailable: ')
    await listener.stop(true)
  })
})
