import { afterAll, beforeAll, expect, test, setDefaultTimeout } from 'bun:test'
import { newChatClient, type ChatClient } from '../../harness/http'
import { startRig, type Rig } from '../../harness/server'
import { recordFigure } from '../../../server/testing/figures'

/** `OVERLOAD_SECONDS=60` for what is promised. */
const overloadSeconds = Number(process.env['OVERLOAD_SECONDS'] ?? 2)

setDefaultTimeout(90_000 + overloadSeconds * 2000)

let rig: Rig
let client: ChatClient

beforeAll(async () => {
  rig = await startRig({ process: 'own', environment: { LOG_LEVEL: 'warn' } })
  client = await newChatClient(rig)
  await rig.model('ok')
})
afterAll(() => rig[Symbol.asyncDispose]())

const body = JSON.stringify({
  model: 'fake/ok',
  messages: [{ role: 'user', content: 'Say something.' }],
})

async function chat(): Promise<{ status: number; tookMs: number }> {
  const startedAt = performance.now()
  const response = await fetch(`${rig.gateway.url}/v1/chat/completions`, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${client.customer.key}`,
      'content-type': 'application/json',
    },
    body,
  })
  await response.text()
  return { status: response.status, tookMs: performance.now() - startedAt }
}

test('L08: with a tenth of a processor under load, it reports that it lives', async () => {
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
      while (!state.isOver) await chat()
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

test(`P06: after ${overloadSeconds} s of more than it can do it serves as fast as before`, async () => {
  const state = { isOver: false }
  const load = Array.from({ length: 300 }, async () => {
    while (!state.isOver) await chat()
  })
  await Bun.sleep(overloadSeconds * 1000)
  state.isOver = true
  await Promise.all(load)
  const startedAt = performance.now()
  let times: number[] = []
  while (times.length < 20) {
    const { status, tookMs } = await chat()
    times = status === 200 ? [...times, tookMs] : []
  }
  const tookMs = performance.now() - startedAt
  recordFigure('P06: 20 answers in a row at full load', tookMs, { unit: 'ms', atMost: 30_000 })
  recordFigure('P06: the slowest of them', Math.max(...times), { unit: 'ms', atMost: 1000 })
})
