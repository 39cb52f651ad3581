import { afterAll, describe, expect, test } from 'bun:test'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { RunningConnect } from './run-connect'
import { requestFrame, SimulatedTollgate, token } from '../../../connect/src/tollgate-for-tests'
import { startFakeProvider } from '../../harness/upstreams/fake-provider'
import { recordTimeFigure } from '../../../server/testing/figures'
import { eventually } from '../../../server/testing/eventually'

const folder = await mkdtemp(join(tmpdir(), 'tollgate-connect-'))
afterAll(() => rm(folder, { recursive: true }))
const program = join(import.meta.dir, '../../../connect/src/tools/program-for-tests.ts')
const TOLLGATE_GATEWAY_TOKEN = token
const priced = (id: string) => ({ id, input: 1, output: 1 })
const key = 'sk-upstream-0123456789'

async function configured(content: object): Promise<string> {
  const path = join(folder, `${Bun.randomUUIDv7()}.json`)
  await writeFile(path, JSON.stringify(content))
  return path
}

/** An agent that serves the fake provider. */
async function connected(environment: Record<string, string> = {}) {
  const upstream = await startFakeProvider({ port: 0 })
  upstream.setCatalogue([
    priced('ok'),
    priced('rst-after-2'),
    priced('status-429'),
    priced('held-5'),
  ])
  const tollgate = new SimulatedTollgate()
  const config = await configured({
    servers: [{ provider: 'fake', base_url: upstream.url, api_key_env: 'FAKE_KEY' }],
    tools: [
      {
        name: 'mine',
        command: process.execPath,
        args: [program],
        env: { MY_SECRET: 'hunter22-hunter22' },
        allow: ['add', 'fail', 'pid'],
      },
    ],
  })
  const agent = new RunningConnect(['--url', tollgate.url, '--config', config, '--json'], {
    TOLLGATE_GATEWAY_TOKEN,
    FAKE_KEY: key,
    ...environment,
  })
  await tollgate.until(() => (tollgate.of('hello').at(-1)?.tools.length ?? 0) === 3, 'the tools')
  return {
    upstream,
    tollgate,
    agent,
    async [Symbol.asyncDispose]() {
      await agent[Symbol.asyncDispose]()
      tollgate[Symbol.dispose]()
      await upstream[Symbol.asyncDispose]()
    },
  }
}

const ask = (id: string, model: string, stream = false) =>
  requestFrame(id, {
    provider: 'fake',
    model,
    stream,
    body: { model, messages: [{ role: 'user', content: 'hi' }], stream },
  })

test('models and tools of this machine are announced, called and run', async () => {
  await using one = await connected()
  const { tollgate, upstream, agent } = one
  const hello = await tollgate.hello()
  expect(hello.providers).toEqual(['fake'])
  expect(hello.models.map(({ name }) => name)).toEqual([
    'ok',
    'rst-after-2',
    'status-429',
    'held-5',
  ])
  expect(hello.tools.map(({ name }) => name)).toEqual(['mine_add', 'mine_pid', 'mine_fail'])

  tollgate.send(ask('plain', 'ok'))
  expect(await tollgate.ended('plain')).toMatchObject([{ type: 'response', status: 200 }])
  tollgate.send(ask('stream', 'ok', true))
  const stream = await tollgate.ended('stream')
  const text = stream.map((frame) => (frame.type === 'chunk' ? frame.data : '')).join('')
  expect(text).toEndWith('data: [DONE]\n\n')
  expect(
    upstream.requests().every(({ headers }) => headers['authorization'] === `Bearer ${key}`),
  ).toBe(true)
  tollgate.send(ask('cut', 'rst-after-2', true))
  expect((await tollgate.ended('cut')).at(-1)).toMatchObject({
    type: 'error',
    code: 'connection_failed',
  })
  tollgate.send(ask('limit', 'status-429'))
  expect(await tollgate.ended('limit')).toMatchObject([{ type: 'response', status: 429 }])

  const call = { timeout_ms: 60_000, most_bytes: 1000 }
  tollgate.send({
    type: 'tool_call',
    id: 'sum',
    name: 'mine_add',
    arguments: { a: 1, b: 2 },
    ...call,
  })
  expect(await tollgate.ended('sum')).toEqual([
    { type: 'tool_result', id: 'sum', content: '3', is_error: false },
  ])
  tollgate.send({ type: 'tool_call', id: 'bad', name: 'mine_fail', arguments: {}, ...call })
  expect(await tollgate.ended('bad')).toMatchObject([
    { content: 'it failed with [secret]', is_error: true },
  ])
  expect(agent.output + JSON.stringify(tollgate.frames)).not.toMatch(/hunter22|sk-upstream|gt-tg-/)
  const whole = agent.out.slice(0, agent.out.lastIndexOf('\n'))
  for (const line of whole.split('\n')) {
    expect(JSON.parse(line)).toMatchObject({ level: expect.any(String), event: expect.any(String) })
  }
})

describe('a signal', () => {
  test.each(['SIGTERM', 'SIGINT'] as const)('%s ends it in order, tools and all', async (name) => {
    await using one = await connected()
    const { tollgate, agent } = one
    tollgate.send(ask('long', 'held-5', true))
    tollgate.send({
      type: 'tool_call',
      id: 'pid',
      name: 'mine_pid',
      arguments: {},
      timeout_ms: 60_000,
      most_bytes: 1000,
    })
    const [result] = await tollgate.ended('pid')
    const pid = Number(result?.type === 'tool_result' ? result.content : '')
    expect(pid).toBeGreaterThan(1)
    const exitCode = await recordTimeFigure(`its end by ${name}`, { atMost: 6000 }, () => {
      agent.signal(name)
      return agent.ended()
    })
    expect(exitCode).toBe(0)
    await tollgate.until(() => tollgate.closes.length > 0, 'the end of its socket')
    expect(tollgate.closes.at(-1)?.code).toBe(1000)
    // A process that is left over was waited for, or has no parent any more.
    const stat = Bun.spawnSync(['ps', '-o', 'stat=', '-p', String(pid)])
      .stdout.toString()
      .trim()
    expect(stat === '' || stat.startsWith('Z')).toBe(true)
  })
})

test('it ends with its launcher, though that was killed', async () => {
  await using one = await connected()
  one.agent.signal('SIGKILL')
  await one.tollgate.until(() => one.tollgate.closes.length === 1, 'its end')
  expect(one.tollgate.closes[0]?.code).toBe(1000)
})

describe('it ends with words and a code of its own', () => {
  test.each([
    [3, 'Tollgate does not know this gateway token', (it: SimulatedTollgate) => it.close(4401)],
    [4, 'Another agent connected with the same token', (it: SimulatedTollgate) => it.close(4409)],
  ])('%d: %s', async (code, words, end) => {
    await using one = await connected()
    end(one.tollgate)
    expect(await one.agent.ended()).toBe(code)
    expect(one.agent.out).toContain(words)
    expect(one.tollgate.opened).toBe(1)
  })

  test('G09: 5, where its version of the protocol is not spoken any more', async () => {
    using tollgate = new SimulatedTollgate()
    tollgate.door = () => Response.json({ error: { code: 'unsupported_version' } }, { status: 426 })
    const args = ['--url', tollgate.url, '--serve', 'local=http://127.0.0.1:1/v1']
    await using agent = new RunningConnect(args, { TOLLGATE_GATEWAY_TOKEN })
    expect(await agent.ended()).toBe(5)
    expect(agent.out).toContain('update the older of the two')
  })

  test.each([
    ['without an address', [], 'The address of Tollgate is missing'],
    [
      'without a key',
      ['--url', 'https://tollgate.example', '--serve', 'openai'],
      'set OPENAI_API_KEY',
    ],
    ['in the clear', ['--url', 'http://tollgate.example'], '--insecure'],
    ['with a typing error', ['--srv'], '--srv'],
  ])('2: %s, on one line', async (_what, args, words) => {
    await using agent = new RunningConnect(args, { TOLLGATE_GATEWAY_TOKEN })
    expect(await agent.ended()).toBe(2)
    expect(agent.err).toContain(words)
    expect(agent.err.trim().split('\n')).toHaveLength(1)
    expect(agent.output).not.toContain(token)
  })
})

describe('--check', () => {
  test('shows the models to be served, and all problems, without connecting', async () => {
    await using upstream = await startFakeProvider({ port: 0 })
    upstream.setCatalogue([priced('ok')])
    using tollgate = new SimulatedTollgate()
    const servers = ['--serve', `local=${upstream.url}`, '--serve', 'other=http://127.0.0.1:1/v1']
    await using agent = new RunningConnect(['--url', tollgate.url, ...servers, '--check'], {
      TOLLGATE_GATEWAY_TOKEN,
    })
    expect(await agent.ended()).toBe(0)
    expect(agent.out).toContain(`local at ${upstream.url} without a key: ok\n`)
    expect(agent.out).toContain(
      'other at http://127.0.0.1:1/v1 without a key: no connection was made',
    )
    expect(tollgate.opened).toBe(0)
  })

  test('ends with 1 without any server, and has JSON for programs', async () => {
    const args = [
      '--url',
      'https://tollgate.example',
      '--serve',
      'a=http://127.0.0.1:1/v1',
      '--check',
      '--json',
    ]
    await using agent = new RunningConnect(args, { TOLLGATE_GATEWAY_TOKEN })
    expect(await agent.ended()).toBe(1)
    expect(JSON.parse(agent.out)).toMatchObject({
      url: 'wss://tollgate.example/gateway',
      servers: [{ provider: 'a', has_key: false, models: [], error: expect.any(String) }],
    })
  })
})

test('the agent connects through the proxy of the environment, which the launcher ignores', async () => {
  const requests: string[] = []
  using proxy = Bun.listen({
    hostname: '127.0.0.1',
    port: 0,
    socket: {
      data: (socket, bytes) => {
        requests.push(bytes.toString().split('\r\n')[0] ?? '')
        socket.end('HTTP/1.1 403 Forbidden\r\n\r\n')
      },
    },
  })
  const args = ['--url', 'https://tollgate.invalid', '--serve', 'a=http://127.0.0.1:1/v1']
  await using agent = new RunningConnect(args, {
    TOLLGATE_GATEWAY_TOKEN,
    https_proxy: `http://127.0.0.1:${proxy.port}`,
  })
  await eventually(() => agent.out.includes('Proxy'))
  expect(requests[0]).toBe('CONNECT tollgate.invalid:443 HTTP/1.1')
  expect(agent.out).toContain('Tollgate was not reached: Proxy connection failed: 403')
  expect(agent.err).not.toContain('ignored')
})

test('without a named server, a running one on this machine is found', async () => {
  using ollama = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    fetch: ({ url }) =>
      url.endsWith('/models')
        ? Response.json({ data: [{ id: 'llama3.2', owned_by: 'library' }] })
        : Response.json({ version: '0.9.0' }),
  })
  using tollgate = new SimulatedTollgate()
  await using agent = new RunningConnect(['--url', tollgate.url], {
    TOLLGATE_GATEWAY_TOKEN,
    OLLAMA_HOST: `127.0.0.1:${ollama.port}`,
  })
  // A server that is slow to answer once is found by a later look, half a minute after the first.
  const isFound = () => tollgate.of('hello').some(({ models }) => models.length > 0)
  await eventually(isFound, 100_000)
  const { models, providers } = await tollgate.hello()
  expect(providers).toEqual(['local'])
  expect(models).toContainEqual({ provider: 'local', name: 'llama3.2' })
  // It may have connected before what it printed has come through its pipe.
  const line = `local at http://127.0.0.1:${ollama.port}/v1: 1 model`
  await eventually(() => agent.out.includes(line))
}, 150_000)
