import { afterAll, afterEach, beforeAll, describe, expect, test } from 'bun:test'
import { recordFigure, recordTimeFigure } from '../../../server/testing/figures'
import { connect, type Socket } from 'node:net'
import { startRig, type Rig } from '../../harness/server'
import {
  sendRequest,
  newChatClient,
  sendRaw,
  messages,
  recordHealthFigures,
  type ChatClient,
  type Json,
} from '../../harness/http'
import { eventually } from '../../../server/testing/eventually'

/** The bound of a figure beyond its timer. */
const lateMs = 300

/** What a timer may take: never less than it says, and little more. */
const boundOf = (timerMs: number) => ({ atLeast: timerMs, atMost: timerMs + lateMs })

const recordTimer = (name: string, tookMs: number, timerMs: number): void =>
  recordFigure(name, tookMs, { unit: 'ms', ...boundOf(timerMs) })

/** Everything that was asked is over at the provider. */
async function expectOver(rig: Rig): Promise<void> {
  const isOver = () => rig.upstream.requests().every(({ closedAt }) => closedAt !== null)
  recordFigure(
    'U02 U03 S09: a request that timed out is over at the provider after',
    await eventually(isOver),
    {
      unit: 'ms',
      atMost: 1000,
    },
  )
}

/** Starts a gateway for the tests of some timers: on a busy machine others' short ones would end what is to be answered. */
async function startTimed(environment: Record<string, string>): Promise<Timed> {
  const rig = await startRig({ environment })
  return { rig, chatClient: await newChatClient(rig) }
}

interface Timed {
  rig: Rig
  chatClient: ChatClient
}

const timedOut = {
  type: 'timeout_error',
  code: 'request_timeout',
  message: expect.stringContaining('did not answer in time'),
  param: null,
  details: {},
}

describe('while the headers wait for the first event', () => {
  const [firstByteMs, requestMs] = [1000, 1000]
  let rig: Rig
  let chatClient: ChatClient

  beforeAll(async () => {
    ;({ rig, chatClient } = await startTimed({
      FIRST_BYTE_TIMEOUT_SECONDS: String(firstByteMs / 1000),
      REQUEST_TIMEOUT_SECONDS: String(requestMs / 1000),
    }))
  })
  afterAll(() => rig[Symbol.asyncDispose]())
  afterEach(() => rig.gateway.recorder.verify())

  // The head at once and the event late, or a byte now and then, are no first event either.
  test.each([['held-first'], ['held-event'], ['trickle-0.05']])(
    'U02: FIRST_BYTE_TIMEOUT_SECONDS is a status of 504: %s',
    async (name) => {
      rig.upstream.reset()
      const { status, error, tookMs, headers } = await chatClient.stream(name)
      expect([status, error]).toMatchObject([504, timedOut])
      expect(headers.get('x-should-retry')).toBe('false')
      recordTimer(`U02: FIRST_BYTE_TIMEOUT_SECONDS of ${name}`, tookMs, firstByteMs)
      // It may have been billed, so that no other provider was called.
      expect(rig.upstream.requests()).toHaveLength(1)
      await expectOver(rig)
    },
  )

  test('U02: FIRST_BYTE_TIMEOUT_SECONDS is a status of 504 for speech', async () => {
    rig.upstream.reset()
    const model = await rig.model('held-first~speech', { category: 'speech' })
    const { status, error, tookMs } = await sendRequest(rig.gateway, {
      path: '/v1/audio/speech',
      key: chatClient.customer.key,
      body: { model, input: 'x' },
    })
    expect([status, error]).toMatchObject([504, timedOut])
    recordTimer('U02: FIRST_BYTE_TIMEOUT_SECONDS of /v1/audio/speech', tookMs, firstByteMs)
    await expectOver(rig)
  })

  test.each<[string, string, Json]>([
    ['/v1/chat/completions', 'held-first', { messages }],
    ['/v1/chat/completions', 'stall-after-3', { messages }],
    ['/v1/completions', 'held-first', { prompt: 'x' }],
    ['/v1/completions', 'held-first', { prompt: ['a', 'b', 'c'] }],
    ['/v1/embeddings', 'held-first~embedding', { input: 'x' }],
    ['/v1/moderations', 'held-first~moderation', { input: 'x' }],
    ['/v1/rerank', 'held-first~rerank', { query: 'x', documents: ['x'] }],
    ['/v1/images/generations', 'held-first~image', { prompt: 'x' }],
  ])('U02: REQUEST_TIMEOUT_SECONDS is 504: %s of %s, %j', async (path, name, fields) => {
    rig.upstream.reset()
    const [, category = 'chat'] = name.split('~')
    const model = await rig.model(name, { category })
    const { status, error, tookMs, headers } = await sendRequest(rig.gateway, {
      path,
      key: chatClient.customer.key,
      body: { model, ...fields },
    })
    expect([status, error]).toMatchObject([504, timedOut])
    expect(headers.get('x-should-retry')).toBe('false')
    recordTimer(`U02: REQUEST_TIMEOUT_SECONDS of ${path}, ${name}`, tookMs, requestMs)
    await expectOver(rig)
  })
})

describe('between two events', () => {
  const idleMs = 4000
  let rig: Rig
  let chatClient: ChatClient

  beforeAll(async () => {
    ;({ rig, chatClient } = await startTimed({ IDLE_TIMEOUT_SECONDS: String(idleMs / 1000) }))
  })
  afterAll(() => rig[Symbol.asyncDispose]())
  afterEach(() => rig.gateway.recorder.verify())

  test.each([['stall-after-3'], ['stall-mid-line'], ['stall-mid-char']])(
    'U03: IDLE_TIMEOUT_SECONDS ends a stream in an error frame, after the received events: %s',
    async (name) => {
      rig.upstream.reset()
      const stream = await chatClient.stream(name)
      expect([stream.status, stream.error]).toMatchObject([200, timedOut])
      expect(stream.content).toBe('w1 w2 w3')
      expect(stream.isDone).toBe(false)
      recordTimer(`U03: IDLE_TIMEOUT_SECONDS of ${name}`, stream.tookMs, idleMs)
      await expectOver(rig)
    },
  )
})

test('U03: IDLE_TIMEOUT_SECONDS begins anew with each event', async () => {
  // Ten seconds more than a gap: a machine that stands still makes one longer.
  const { rig, chatClient } = await startTimed({ IDLE_TIMEOUT_SECONDS: '11' })
  await using _rig = rig
  const stream = await chatClient.stream('chunks-14-gap-1000')
  // Thirteen seconds of gaps, more than the timer.
  expect(stream.content).toEndWith(' w13 w14')
  expect(stream.isDone).toBe(true)
  rig.gateway.recorder.verify()
})

describe('a whole stream', () => {
  const streamMs = 5000
  let rig: Rig
  let chatClient: ChatClient

  beforeAll(async () => {
    ;({ rig, chatClient } = await startTimed({ STREAM_TIMEOUT_SECONDS: String(streamMs / 1000) }))
  })
  afterAll(() => rig[Symbol.asyncDispose]())
  afterEach(() => rig.gateway.recorder.verify())

  test('S09: STREAM_TIMEOUT_SECONDS ends a stream that is well', async () => {
    rig.upstream.reset()
    const stream = await chatClient.stream('chunks-999-gap-50')
    expect([stream.status, stream.error]).toMatchObject([200, timedOut])
    expect(stream.isDone).toBe(false)
    recordTimer('S09: STREAM_TIMEOUT_SECONDS', stream.tookMs, streamMs)
    await expectOver(rig)
  })

  test('S09: STREAM_TIMEOUT_SECONDS ends a stream that never pauses, and no request waits for it', async () => {
    rig.upstream.reset()
    const body = { model: await rig.model('endless'), stream: true, messages }
    const headers = { connection: 'close' }
    const name = 'S09: STREAM_TIMEOUT_SECONDS without a pause'
    using client = await recordTimeFigure(name, boundOf(streamMs), async () => {
      const sent = await sendRaw(rig.gateway, { key: chatClient.customer.key, body, headers })
      expect(await recordHealthFigures(rig.gateway, sent.ended)).toBeGreaterThan(1)
      return sent
    })
    const events = client.read().subarray(-2000).toString().split('\n\n')
    const last = events.findLast((event) => event.includes('data: '))
    expect(last).toContain('"code":"request_timeout"')
    expect(client.read().includes('[DONE]')).toBe(false)
    await expectOver(rig)
  })
})

describe('a host that takes no connections', () => {
  const connectMs = 250
  let full: FullHost
  let rig: Rig
  let chatClient: ChatClient

  beforeAll(async () => {
    ;({ rig, chatClient } = await startTimed({ CONNECT_TIMEOUT_SECONDS: String(connectMs / 1000) }))
    full = await startFullHost()
    const base_url = `http://127.0.0.1:${full.port}/v1`
    const provider = { key: 'full', name: 'Full', adapter: 'openai', base_url }
    await rig.gateway.admin('POST', '/providers', provider)
    const connection = { name: 'full', provider: 'full', api_key: 'sk-x', priority: 1 }
    await rig.gateway.admin('POST', '/connections', connection)
    await rig.gateway.admin('POST', '/models', {
      id: 'full/ok',
      name: 'ok',
      category: 'chat',
      context_length: 8192,
      max_output_tokens: 4096,
      pricing: { input: 1, output: 4 },
    })
  })
  afterAll(async () => {
    full[Symbol.dispose]()
    await rig[Symbol.asyncDispose]()
  })
  afterEach(() => rig.gateway.recorder.verify())

  test.each([[true], [false]])(
    'U01: CONNECT_TIMEOUT_SECONDS is 502 connection_failed; stream %p',
    async (stream) => {
      const body = { model: 'full/ok', stream, messages }
      const answer = await sendRequest(rig.gateway, { key: chatClient.customer.key, body })
      expect([answer.status, answer.error.code]).toEqual([502, 'connection_failed'])
      recordTimer(`U01: CONNECT_TIMEOUT_SECONDS, stream ${stream}`, answer.tookMs, connectMs)
    },
  )
})

interface FullHost extends Disposable {
  port: number
}

/** A port whose backlog is full, of a process that never accepts: connecting hangs. */
async function startFullHost(): Promise<FullHost> {
  const script = `
    const server = Bun.listen({ hostname: '127.0.0.1', port: 0, socket: { data() {} } })
    console.log(server.port)
    Bun.sleepSync(600_000)`
  const child = Bun.spawn([process.execPath, '-e', script], { stdout: 'pipe' })
  const { value } = await child.stdout.getReader().read()
  const port = Number(new TextDecoder().decode(value))
  const sockets: Socket[] = []
  let connected = 0
  // Batches, until one of them is no longer taken whole, though it is given time until twice none was taken.
  while (connected === sockets.length && sockets.length < 6000) {
    for (let count = 0; count < 200; count++) {
      const socket = connect({ host: '127.0.0.1', port })
      socket.on('connect', () => connected++)
      socket.on('error', () => undefined)
      sockets.push(socket)
    }
    for (let fruitless = 0; connected < sockets.length && fruitless < 2;) {
      const before = connected
      await eventually(() => connected === sockets.length, 1000).catch(() => undefined)
      fruitless = connected === before ? fruitless + 1 : 0
    }
  }
  return {
    port,
    [Symbol.dispose]() {
      for (const socket of sockets) socket.destroy()
      child.kill('SIGKILL')
    },
  }
}
