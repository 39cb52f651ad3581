import { expect, test } from 'bun:test'
import { toCurl } from './curl'
import { promptOf, toolsOf } from './stored-bodies'

const request = {
  endpoint: '/v1/chat/completions',
  model: 'fake/a',
  requested_model: 'an alias',
  stream: false,
}
const origin = 'http://localhost:8080'

test('a request is repeated with its stored body, quoted for the shell', () => {
  const body = { model: 'an alias', messages: [{ role: 'user', content: "It's $HOME `x`" }] }
  const command = toCurl({ ...request, request_body: JSON.stringify(body) }, origin)
  expect(command).toStartWith(`curl ${origin}/v1/chat/completions \\\n`)
  const printed = Bun.spawnSync(['sh', '-c', command.replace(/^curl \S+/, 'printf "%s\\n"')])
  const [, , , , , ...lines] = printed.stdout.toString().trim().split('\n')
  expect(JSON.parse(lines.join('\n'))).toEqual(body)
})

test('a request without a whole stored body becomes a sample for the same model', () => {
  for (const request_body of [undefined, null, '{"model": "fake/a", "mess[cut]']) {
    const command = toCurl({ ...request, stream: true, request_body }, origin)
    expect(command).toContain('"model": "an alias"')
    expect(command).toContain('"stream": true')
  }
  expect(toCurl({ ...request, endpoint: '/v1/embeddings' }, origin)).toContain('"input"')
  expect(toCurl({ ...request, endpoint: '/v2/rerank' }, origin)).toContain('"documents"')
  expect(toCurl({ ...request, endpoint: '/v1/images/generations' }, origin)).toContain('lighthouse')
  expect(toCurl({ ...request, endpoint: '/api/automation/sessions' }, origin)).toContain(
    `${origin}/v1/chat/completions`,
  )
})

test('speech is repeated with a voice', () => {
  const command = toCurl({ ...request, endpoint: '/v1/audio/speech' }, origin)
  expect(command).toContain('"voice"')
})

test('a request with a file becomes a form with a file of the reader, with a stored body too', () => {
  const form = { ...request, endpoint: '/v1/audio/transcriptions', request_body: '{"model": "x"}' }
  const command = toCurl(form, origin)
  expect(command).toStartWith(`curl ${origin}/v1/audio/transcriptions `)
  expect(command).toContain("--form-string 'model=an alias'")
  expect(command).toContain('-F file=@recording.mp3')
  expect(command).not.toContain('Content-Type')
})

test('a form, which is stored without its files, becomes a sample', () => {
  const file = { filename: 'a.png', content_type: 'image/png', bytes: 1, sha256: '00' }
  for (const image of [file, [file, file]]) {
    const request_body = JSON.stringify({ model: 'an alias', prompt: 'At night', image, n: '2' })
    const command = toCurl({ ...request, endpoint: '/v1/images/edits', request_body }, origin)
    expect(command).toContain('lighthouse.png')
    expect(command).not.toContain('sha256')
  }
})

test('the prompt is the last message of the user', () => {
  const messages = [
    { role: 'user', content: 'First' },
    { role: 'assistant', content: 'Yes?' },
    { role: 'user', content: [{ type: 'text', text: 'Second' }, { type: 'image_url' }] },
  ]
  expect(promptOf(JSON.stringify({ messages }))).toBe('Second')
  expect(promptOf(JSON.stringify({ input: 'Third' }))).toBe('Third')
  expect(promptOf('{"messages": [cut]')).toBeUndefined()
})

test('the tools are the offered ones and the called ones', () => {
  const offered = [{ type: 'function', function: { name: 'weather' } }, { name: 'clock' }]
  const calls = [{ id: '1', function: { name: 'weather', arguments: '{}' } }]
  expect(
    toolsOf({
      request_body: JSON.stringify({ tools: offered }),
      response_body: JSON.stringify({ choices: [{ message: { tool_calls: calls } }] }),
    }),
  ).toEqual({ offered: ['weather', 'clock'], called: ['weather'] })
  const content = [{ type: 'text' }, { type: 'tool_use', name: 'clock' }]
  expect(toolsOf({ response_body: JSON.stringify({ content }) })).toEqual({
    offered: [],
    called: ['clock'],
  })
  const output = [{ type: 'function_call', name: 'clock' }]
  expect(toolsOf({ response_body: JSON.stringify({ output }) }).called).toEqual(['clock'])
})
