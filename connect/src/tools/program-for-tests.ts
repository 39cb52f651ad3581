// A tool server as its own program, by the SDK. Its variable MODE selects a misbehaviour.
import { fromJsonSchema, McpServer } from '@modelcontextprotocol/server'
import { serveStdio } from '@modelcontextprotocol/server/stdio'
import { z } from 'zod'

const mode = process.env['MODE'] ?? ''
const text = (words: string) => ({ content: [{ type: 'text' as const, text: words }] })

function make(): McpServer {
  const server = new McpServer({ name: 'for tests', version: '1.0.0' })
  server.registerTool(
    'add',
    { description: 'Adds two numbers', inputSchema: z.object({ a: z.number(), b: z.number() }) },
    ({ a, b }) => text(String(a + b)),
  )
  server.registerTool('environment', { description: 'Its variables' }, () =>
    text(Object.keys(process.env).toSorted().join(' ')),
  )
  server.registerTool('pid', { description: 'Its process' }, () => text(String(process.pid)))
  server.registerTool('fail', { description: 'Fails' }, () => ({
    ...text(`it failed with ${process.env['MY_SECRET'] ?? 'nothing'}`),
    isError: true,
  }))
  server.registerTool('long', { description: 'Says much' }, () => text('é'.repeat(300_000)))
  server.registerTool('wait', { description: 'Never answers' }, () => new Promise(() => undefined))
  server.registerTool('die', { description: 'Ends the program' }, () => {
    console.error('I have to go now')
    process.exit(3)
  })
  server.registerTool('picture', { description: 'Shows' }, () => ({
    content: [
      { type: 'text', text: 'Look:' },
      { type: 'image', data: 'AAAA', mimeType: 'image/png' },
      { type: 'resource', resource: { uri: 'file:///a.txt', text: 'the text of it' } },
      { type: 'resource_link', uri: 'https://example.com/b', name: 'b' },
    ],
  }))
  if (mode === 'large') {
    const properties = { a: { type: 'string' as const, description: 'x'.repeat(20_000) } }
    server.registerTool(
      'large',
      { inputSchema: fromJsonSchema({ type: 'object', properties }) },
      () => text('never'),
    )
  }
  return server
}

if (mode === 'dead') {
  console.error('there is no \u001B[31mlicence\nfor hunter22-hunter22')
  process.exit(1)
}
if (mode === 'stubborn') process.on('SIGTERM', () => undefined)
if (mode === 'noisy') console.log('Welcome! This line is no message.')
if (mode === 'endless') for (;;) process.stdout.write('x'.repeat(1_000_000))
serveStdio(make)
