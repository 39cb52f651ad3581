import { afterAll, beforeAll, expect, test, setDefaultTimeout } from 'bun:test'
import { join } from 'node:path'
import { newChatClient, type ChatClient } from '../../harness/http'
import { eventually } from '../../../server/testing/eventually'
import { startRig, type Rig } from '../../harness/server'
import { recordFigure } from '../../../server/testing/figures'

// A busy machine takes long to start one.
setDefaultTimeout(90_000)

let rig: Rig
let client: ChatClient

beforeAll(async () => {
  rig = await startRig({
    preload: join(import.meta.dir, 'preloads/loop-delay.ts'),
    environment: { LOG_LEVEL: 'warn' },
  })
  client = await newChatClient(rig)
  await rig.model('ok')
})
afterAll(() => rig[Symbol.asyncDispose]())

/** What the gateway itself held its loop for since it was last asked. */
async function held(): Promise<{ p99: number; max: number }> {
  const { gateway } = rig
  const before = gateway.output().split('loop: ').length
  process.kill(gateway.pid, 'SIGUSR2')
  await eventually(() => gateway.output().split('loop: ').length > before)
  const [, p99, max] = /p99 ([\d.]+) ms, max ([\d.]+) ms\n?$/.exec(gateway.output().trimEnd()) ?? []
  return { p99: Number(p99), max: Number(max) }
}

const chat = async (content: string) => {
  const response = await fetch(`${rig.gateway.url}/v1/chat/completions`, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${client.customer.key}`,
      'content-type': 'application/json',
    },
    body: JSON.stringify({ model: 'fake/ok', messages: [{ role: 'user', content }] }),
  })
  await response.text()
  return response.status
}

test('P05 H10: neither streams nor large and odd bodies hold the event loop', async () => {
  // What is compiled and loaded at first is not what is asked here.
  await Promise.all([client.chat('ok'), client.stream('ok'), chat('a'.repeat(1 << 20))])
  await held()
  const streams = Array.from({ length: 50 }, () => client.stream('chunks-40-gap-20'))
  const bodies = [
    'a'.repeat(4 << 20),
    '漢'.repeat(1 << 20),
    ' '.repeat(4 << 20),
    '\u0000'.repeat(1 << 18),
  ]
  for (const body of bodies) {
    // Refused where the model reads less: after it was read and, where that is needed, counted.
    expect(await chat(body)).toBeOneOf([200, 400])
  }
  for (let count = 0; count < 300; count++) await chat('Say something.')
  for (const { isDone } of await Promise.all(streams)) expect(isDone).toBe(true)
  const { p99, max } = await held()
  recordFigure('P05: p99 of the delays of the loop', p99, { unit: 'ms', atMost: 50 })
  recordFigure('P05: the longest delay of the loop', max, { unit: 'ms', atMost: 200 })
})

test('L08: with a tenth of a processor, and while it is asked a lot, it says that it lives', async () => {
  const { gateway } = rig
  const state = { isOver: false }
  // As a quota does: it runs for a tenth of the time, and stands still for the rest.
  const throttled = (async () => {
    while (!state.isOver) {
      process.kill(gateway.pid, 'SIGSTOP')
      await Bun.sleep(90)
      process.kill(gateway.pid, 'SIGCONT')
      await Bun.sleep(10)
    }
  })()
  const load = Promise.all(
    Array.from({ length: 20 }, async () => {
      while (!state.isOver) await chat('Say something.')
    }),
  )
  const times: number[] = []
  try {
    for (let count = 0; count < 15; count++) {
      const startedAt = performance.now()
      expect((await fetch(`${gateway.url}/healthz`)).status).toBe(200)
      times.push(performance.now() - startedAt)
      await Bun.sleep(37)
    }
  } finally {
    state.isOver = true
    await throttled
    await load
  }
  const middle = times.toSorted((a, b) => a - b)[times.length >> 1] ?? Number.NaN
  recordFigure('L08: median of /healthz', middle, { unit: 'ms', atMost: 1000 })
})

/** `OVERLOAD_SECONDS=60` for what is promised. */
const overloadSeconds = Number(process.env['OVERLOAD_SECONDS'] ?? 2)

test(`P06: after ${overloadSeconds} s of more than it can do it serves as before`, async () => {
  const state = { isOver: false }
  const statuses = new Set<number>()
  const load = Array.from({ length: 300 }, async () => {
    while (!state.isOver) statuses.add(await chat('Say something.'))
  })
  await Bun.sleep(overloadSeconds * 1000)
  state.isOver = true
  await Promise.all(load)
  for (const status of statuses) expect(status).toBeOneOf([200, 429, 503])
  let times: number[] = []
  const tookMs = await eventually(async () => {
    const startedAt = performance.now()
    const status = await chat('Say something.')
    times = status === 200 ? [...times, performance.now() - startedAt] : []
    return times.length === 20
  })
  recordFigure('P06: 20 answers in a row', tookMs, { unit: 'ms', atMost: 30_000 })
  recordFigure('P06: the slowest of them', Math.max(...times), { unit: 'ms', atMost: 1000 })
})
