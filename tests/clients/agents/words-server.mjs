// An MCP server over standard input and output with one tool, whose answer is only in the variable WORD.
import { createInterface } from 'node:readline'

const tool = {
  name: 'lookup_word',
  description: 'Looks up a word by its key.',
  inputSchema: {
    type: 'object',
    properties: { key: { type: 'string', description: 'The key of the word.' } },
    required: ['key'],
  },
}

const answers = {
  initialize: ({ protocolVersion }) => ({
    protocolVersion,
    capabilities: { tools: {} },
    serverInfo: { name: 'words', version: '1.0.0' },
  }),
  ping: () => ({}),
  'tools/list': () => ({ tools: [tool] }),
  'tools/call': () => ({ content: [{ type: 'text', text: process.env['WORD'] ?? '' }] }),
}

for await (const line of createInterface({ input: process.stdin })) {
  const { id, method, params } = JSON.parse(line)
  // Notifications are not answered.
  if (id === undefined) continue
  const result = answers[method]?.(params ?? {})
  const unknown = { code: -32601, message: `no method ${method}` }
  const reply = result ? { result } : { error: unknown }
  process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', id, ...reply })}\n`)
}
