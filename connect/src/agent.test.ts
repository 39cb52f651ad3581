import { describe, expect, test } from 'bun:test'
import { eventually } from '@tollgate/server/testing/eventually'
import { createHold } from '@tollgate/server/testing/hold'
import { apiKey, Fixture } from './agent-fixture-for-tests'
import { requestFrame, token } from './tollgate-for-tests'

/** Whether the agent has been welcomed so often. */
const isOnline = ({ logLines }: Fixture, times: number) =>
  logLines.filter((line) => line.includes('"event":"online"')).length === times

describe('a hello', () => {
  test('announces the models of the servers', async () => {
    await using fixture = await Fixture.open()
    expect(await fixture.tollgate.hello()).toEqual({
      type: 'hello',
      id: 'hello-1',
      version: '0.1.0',
      features: ['media'],
      providers: ['local'],
      models: [{ provider: 'local', name: 'llama' }],
      tools: [],
    })
    await fixture.tollgate.until(() => fixture.logLines.some((line) => line.includes('gw_test')))
  })

  test('is sent again when the list has changed, and only then', async () => {
    await using fixture = await Fixture.open()
    const { tollgate, server } = fixture
    await fixture.repeatSurvey()
    server.models = ['llama', 'phi', 'phi', '', 'x'.repeat(201)]
    await fixture.repeatSurvey()
    await tollgate.until(() => tollgate.of('hello').length === 2)
    expect((await tollgate.hello()).models.map(({ name }) => name)).toEqual(['llama', 'phi'])
    await fixture.repeatSurvey()
    tollgate.send(requestFrame('a', { model: 'phi' }))
    expect(await tollgate.ended('a')).toMatchObject([{ status: 200 }])
    // The socket keeps their order: a hello of the survey before would be here.
    expect(tollgate.of('hello')).toHaveLength(2)
  })

  test('has no models of a server that does not answer, which is logged once', async () => {
    await using fixture = await Fixture.open()
    const { tollgate, server } = fixture
    server[Symbol.dispose]()
    await fixture.repeatSurvey()
    await fixture.repeatSurvey()
    await tollgate.until(() => tollgate.of('hello').length === 2)
    expect((await tollgate.hello()).models).toEqual([])
    expect(fixture.logLines.filter((line) => line === 'server_silent')).toHaveLength(1)
  })

  test('names only the entries that the owner allows', async () => {
    await using fixture = await Fixture.open({ models: ['phi'] })
    const { tollgate, server } = fixture
    server.models = ['llama', 'phi']
    await fixture.repeatSurvey()
    await tollgate.until(() => tollgate.of('hello').length === 2)
    expect((await tollgate.hello()).models).toEqual([{ provider: 'local', name: 'phi' }])
    tollgate.send(requestFrame('a'))
    expect(await tollgate.ended('a')).toMatchObject([{ type: 'error', code: 'not_served' }])
  })

  test('keeps to the bounds of a hello', async () => {
    await using fixture = await Fixture.open()
    const { tollgate, server } = fixture
    server.models = Array.from({ length: 5000 }, (_, at) => `${at}-${'m'.repeat(180)}`)
    await fixture.repeatSurvey()
    await tollgate.until(() => tollgate.of('hello').length === 2)
    expect((await tollgate.hello()).models).toHaveLength(2000)
    expect(tollgate.nonsense).toEqual([])
    expect(tollgate.opened).toBe(1)
  })

  test('is logged for the owner when rejected in part', async () => {
    await using fixture = await Fixture.open()
    const { tollgate, server } = fixture
    tollgate.refused = [{ what: 'model', name: 'phi', reason: 'is\n\u001B[31mnot for you' }]
    server.models = ['phi']
    await fixture.repeatSurvey()
    const words = 'Tollgate rejected the model phi: is [31mnot for you'
    await tollgate.until(() => fixture.logLines.some((line) => line.includes(words)))
  })
})

describe('reconnecting', () => {
  test.each([
    ['a cut', (fixture: Fixture) => fixture.tollgate.cut()],
    ['a node that shuts down', (fixture: Fixture) => fixture.tollgate.close(1001)],
    ['an error of its own', (fixture: Fixture) => fixture.tollgate.close(4400)],
    ['a silence', (fixture: Fixture) => fixture.tollgate.close(4408)],
    ['nonsense', (fixture: Fixture) => fixture.tollgate.raw('{')],
  ])('after %s, with a new hello', async (_what, end) => {
    await using fixture = await Fixture.open()
    const { tollgate } = fixture
    end(fixture)
    await tollgate.until(() => tollgate.of('hello').length === 2, 'another hello')
    tollgate.send(requestFrame('a'))
    expect(await tollgate.ended('a')).toMatchObject([{ status: 200 }])
  })

  test('after temporary refusals, logged once', async () => {
    await using fixture = await Fixture.open()
    const { tollgate } = fixture
    let refusals = 0
    tollgate.door = () => ((refusals += 1) < 4 ? new Response('', { status: 503 }) : undefined)
    tollgate.cut()
    await tollgate.until(() => tollgate.of('hello').length === 2)
    expect(fixture.logLines.filter((line) => line.includes('Tollgate answered 503'))).toHaveLength(
      1,
    )
  })

  test('is not tried after 4401, 4409, 401 and 426', async () => {
    const ends: [number, (fixture: Fixture) => void][] = [
      [3, ({ tollgate }) => tollgate.close(4401)],
      [4, ({ tollgate }) => tollgate.close(4409)],
    ]
    for (const [status, code] of [
      [401, 3],
      [426, 5],
    ] as const) {
      ends.push([
        code,
        ({ tollgate }) => {
          tollgate.door = () => new Response('', { status })
          tollgate.cut()
        },
      ])
    }
    for (const [code, end] of ends) {
      await using fixture = await Fixture.open()
      end(fixture)
      expect(await fixture.over).toBe(code)
      expect(fixture.tollgate.of('hello')).toHaveLength(1)
      expect(fixture.logLines.at(-1)).toContain('"event":"stopped"')
    }
  })

  test('to a Tollgate that shuts down repeatedly backs off', async () => {
    const pauses: number[] = []
    const { hold, heldCount, release } = createHold()
    let nowMs = 0
    const pause = (ms: number) => {
      pauses.push(ms)
      return ms === 0 ? Promise.resolve() : hold()
    }
    await using fixture = await Fixture.open({}, { random: () => 1, nowMs: () => nowMs, pause })
    const { tollgate } = fixture
    // The connections do not last a second: the agent waits, each time twice as long.
    for (const opened of [1, 2]) {
      await eventually(() => isOnline(fixture, opened))
      tollgate.close(1001)
      await eventually(() => heldCount() === 1)
      expect(tollgate.opened).toBe(opened)
      release()
    }
    await eventually(() => isOnline(fixture, 3))
    nowMs += 1000
    tollgate.close(1001)
    await eventually(() => isOnline(fixture, 4))
    expect(pauses).toEqual([500, 1000, 0])
  })
})

test('two requests with one id are a protocol error, and the socket is reopened', async () => {
  await using fixture = await Fixture.open()
  const { tollgate, server } = fixture
  server.answer = () => new Promise(() => undefined)
  tollgate.send(requestFrame('a'))
  tollgate.send(requestFrame('a'))
  await tollgate.until(() => tollgate.of('hello').length === 2)
  expect(tollgate.closes[0]?.code).toBe(4400)
  await tollgate.until(() => server.aborted === 1, 'the abort')
})

test('an unknown tool is not served', async () => {
  await using fixture = await Fixture.open()
  const { tollgate } = fixture
  const call = { name: 'rm', arguments: {}, timeout_ms: 1000, most_bytes: 1000 }
  tollgate.send({ type: 'tool_call', id: 't', ...call })
  expect(await tollgate.ended('t')).toMatchObject([
    { type: 'error', code: 'not_served', sent: false },
  ])
})

test('a stop cancels running requests, closes the socket cleanly and exits with 0', async () => {
  const fixture = await Fixture.open()
  const { tollgate, server } = fixture
  server.answer = () => new Promise(() => undefined)
  tollgate.send(requestFrame('a'))
  await tollgate.until(() => server.requests.length === 1)
  fixture.stop()
  expect(await fixture.over).toBe(0)
  await tollgate.until(() => server.aborted === 1 && tollgate.closes.length === 1)
  expect(tollgate.closes[0]?.code).toBe(1000)
  await fixture[Symbol.asyncDispose]()
})

test('no log line and no frame has a secret', async () => {
  await using fixture = await Fixture.open()
  const { tollgate, server } = fixture
  server.answer = () => new Response(`you sent ${apiKey}`, { status: 401 })
  tollgate.send(requestFrame('a'))
  await tollgate.ended('a')
  tollgate.send({ type: 'error', id: '', code: 'x', message: `your token is ${token}` })
  tollgate.close(4400, `no ${apiKey.slice(0, 12)}`)
  await tollgate.until(() => tollgate.of('hello').length === 2)
  const everything = JSON.stringify([fixture.logLines, tollgate.frames])
  expect(everything).toContain('Tollgate says: your token is [secret]')
  for (const secret of [apiKey, token]) expect(everything).not.toContain(secret)
})
