import { afterEach, expect, test } from 'bun:test'
import { findLocalServers } from './local-servers'
import { TestClock } from '../../../testing/clock'
import { eventually } from '../../../testing/eventually'

type Answers = Record<string, unknown>

const running: { stop(force: boolean): unknown }[] = []
afterEach(async () => {
  for (const server of running.splice(0)) await server.stop(true)
})

/** A server on loopback; what it does not know is a 404. Returns its base URL and what it was asked. */
function serve(answers: Answers | ((request: Request) => Response | Promise<Response>)) {
  const requests: Request[] = []
  const server = Bun.serve({
    hostname: '127.0.0.1',
    port: 0,
    // A server that hangs does so for ever.
    idleTimeout: 0,
    fetch(request) {
      requests.push(request)
      if (typeof answers === 'function') return answers(request)
      const answer = answers[new URL(request.url).pathname]
      return answer === undefined ? new Response(null, { status: 404 }) : Response.json(answer)
    },
  })
  running.push(server)
  const port = server.port ?? 0
  return { baseUrl: `http://127.0.0.1:${port}/v1`, port, requests }
}

const find = (baseUrls: string[], timeoutMs = 20_000) =>
  findLocalServers({ ownPort: 1, bases: baseUrls.map((baseUrl) => ({ baseUrl })), timeoutMs })

const list = (owner: string, ...ids: string[]) => ({
  object: 'list',
  data: ids.map((id) => ({ id, object: 'model', created: 1, owned_by: owner })),
})

test('recognizes Ollama by its version', async () => {
  const { baseUrl } = serve({
    '/v1/models': list('library', 'llama3.2:latest', 'nomic-embed-text:latest'),
    '/api/version': { version: '0.12.3' },
  })
  expect(await find([baseUrl])).toEqual([
    {
      server: 'ollama',
      baseUrl,
      models: [{ id: 'llama3.2:latest' }, { id: 'nomic-embed-text:latest' }],
    },
  ])
})

test('recognizes vLLM by its owner, and reads its context length', async () => {
  const { baseUrl } = serve({
    '/v1/models': {
      object: 'list',
      data: [{ id: 'Qwen/Qwen3-8B', owned_by: 'vllm', max_model_len: 32_768, permission: [] }],
    },
    '/version': { version: '0.11.0' },
  })
  expect(await find([baseUrl])).toEqual([
    { server: 'vllm', baseUrl, models: [{ id: 'Qwen/Qwen3-8B', contextLength: 32_768 }] },
  ])
})

test('recognizes vLLM under another owner by its version', async () => {
  const { baseUrl } = serve({ '/v1/models': list('me', 'mine'), '/version': { version: '0.11.0' } })
  expect(await find([baseUrl])).toMatchObject([{ server: 'vllm', models: [{ id: 'mine' }] }])
})

test('recognizes LM Studio by its own model list, though it answers 200 to any path', async () => {
  const answers: Answers = {
    '/v1/models': list('organization_owner', 'qwen/qwen3-4b', 'other'),
    '/api/v0/models': {
      data: [
        {
          id: 'qwen/qwen3-4b',
          type: 'llm',
          max_context_length: 40_960,
          loaded_context_length: 4096,
        },
        { id: 'other', type: 'llm', max_context_length: 8192 },
      ],
    },
  }
  const { baseUrl } = serve((request) =>
    Response.json(answers[new URL(request.url).pathname] ?? { error: 'Unexpected endpoint' }),
  )
  expect(await find([baseUrl])).toEqual([
    {
      server: 'lmstudio',
      baseUrl,
      models: [
        { id: 'qwen/qwen3-4b', contextLength: 4096 },
        { id: 'other', contextLength: 8192 },
      ],
    },
  ])
})

test('recognizes llama.cpp by its owner or its properties', async () => {
  const props = { default_generation_settings: { n_ctx: 8192 }, total_slots: 1 }
  const named = serve({ '/v1/models': list('llamacpp', 'gemma.gguf'), '/props': props })
  const unnamed = serve({ '/v1/models': list('me', 'gemma.gguf'), '/props': props })
  const models = [{ id: 'gemma.gguf', contextLength: 8192 }]
  expect(await find([named.baseUrl, unnamed.baseUrl])).toEqual([
    { server: 'llamacpp', baseUrl: named.baseUrl, models },
    { server: 'llamacpp', baseUrl: unnamed.baseUrl, models },
  ])
})

test('finds no server if none runs', async () => {
  const { baseUrl } = serve({})
  await running.pop()?.stop(true)
  expect(await find([baseUrl])).toEqual([])
})

test('another program on the port is left alone', async () => {
  const models = list('me', 'm')
  const version = { version: '1' }
  const { baseUrl: stranger } = serve({ '/v1/models': models })
  const { baseUrl: empty } = serve({})
  const bodies = ['<html>', '', 'null', '[]', '{"data":{}}', '{"data":[{"id":7}]}', '{"data":[{}]}']
  const garbage = bodies.map((body) => serve(() => new Response(body)).baseUrl)
  const { baseUrl: locked } = serve(() => Response.json(models, { status: 401 }))
  const { baseUrl: moved } = serve(({ url }) =>
    url.endsWith('/v1/models') ? Response.redirect('/elsewhere', 302) : Response.json(version),
  )
  expect(await find([stranger, empty, ...garbage, locked, moved, 'no address'])).toEqual([])
})

test('a server that hangs costs its time and nothing else', async () => {
  const silent = serve(() => new Promise<Response>(() => {}))
  const stuck = serve(
    () => new Response(new ReadableStream({ start: (body) => body.enqueue('{"data":[') })),
  )
  const { baseUrl } = serve({
    '/v1/models': list('library', 'm'),
    '/api/version': { version: '1' },
  })
  const clock = new TestClock()
  const bases = [silent, stuck, { baseUrl }].map((each) => ({ baseUrl: each.baseUrl }))
  const state = { isOver: false }
  const found = findLocalServers({ ownPort: 1, bases, timeoutMs: 300, clock }).finally(
    () => (state.isOver = true),
  )
  // The two that hang wait for their timers; the other one has had all of its answers.
  await eventually(() => silent.requests.length + stuck.requests.length === 2)
  await eventually(() => clock.pending === 2)
  await clock.advance(299)
  expect(state.isOver).toBe(false)
  await clock.advance(1)
  expect((await found).map((server) => server.baseUrl)).toEqual([baseUrl])
  expect(clock.pending).toBe(0)
})

test('an answer without end is cut', async () => {
  let sent = 0
  const { baseUrl } = serve(
    () =>
      new Response(
        new ReadableStream({
          pull(body) {
            sent += 65_536
            body.enqueue(new Uint8Array(65_536).fill(32))
          },
        }),
      ),
  )
  expect(await find([baseUrl], 20_000)).toEqual([])
  // What the sockets hold is on top of the megabyte that is read.
  expect(sent).toBeLessThan(20_000_000)
})

test('does not probe its own port', async () => {
  const { baseUrl, port, requests } = serve({ '/v1/models': list('vllm', 'm') })
  expect(await findLocalServers({ ownPort: port, bases: [{ baseUrl }] })).toEqual([])
  expect(requests).toEqual([])
})

test('a server that requires a key receives the one named for it, the others none', async () => {
  const models = list('vllm', 'm')
  const guarded = serve(({ headers }) =>
    headers.get('authorization') === 'Bearer secret'
      ? Response.json(models)
      : new Response(null, { status: 401 }),
  )
  const open = serve({ '/v1/models': models })
  const bases = [
    { baseUrl: guarded.baseUrl, keyVariable: 'VLLM_API_KEY' },
    { baseUrl: open.baseUrl, keyVariable: 'LMSTUDIO_API_KEY' },
  ]
  const environment = { VLLM_API_KEY: 'secret' }
  const found = await findLocalServers({ ownPort: 1, bases, environment, timeoutMs: 20_000 })
  expect(found.map(({ keyVariable }) => keyVariable)).toEqual(['VLLM_API_KEY', undefined])
  expect(open.requests.every(({ headers }) => !headers.has('authorization'))).toBe(true)
})

test.each([
  ['127.0.0.1:PORT', 'http://127.0.0.1:PORT/v1'],
  ['localhost:PORT', 'http://localhost:PORT/v1'],
  [':PORT', 'http://127.0.0.1:PORT/v1'],
  ['0.0.0.0:PORT', 'http://127.0.0.1:PORT/v1'],
  ['http://127.0.0.1:PORT/', 'http://127.0.0.1:PORT/v1'],
])('OLLAMA_HOST=%s is probed at %s', async (setting, expected) => {
  const { port } = serve({
    '/v1/models': list('library', 'm'),
    '/api/version': { version: '1' },
  })
  const at = (text: string) => text.replace('PORT', String(port))
  const environment = { OLLAMA_HOST: at(setting), OLLAMA_API_KEY: 'hosted' }
  const found = await findLocalServers({ ownPort: 1, environment, timeoutMs: 20_000 })
  expect(found.filter(({ baseUrl }) => baseUrl === at(expected))).toMatchObject([
    { server: 'ollama' },
  ])
})

test.each([
  '192.0.2.1:PORT',
  'https://127.0.0.1:PORT',
  'example.com',
  '127.0.0.1.example.com',
  '::',
])('OLLAMA_HOST=%s is not probed', async (setting) => {
  const { port, requests } = serve({ '/v1/models': list('library', 'm') })
  const environment = { OLLAMA_HOST: setting.replace('PORT', String(port)) }
  await findLocalServers({ ownPort: 1, environment, timeoutMs: 100 })
  expect(requests).toEqual([])
})
