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

test('L08: stopped again and again under load, it reports that it lives', async () => {
  const { gateway } = rig
  const state = { isOver: false }
  const load = Promise.all(
    Array.from({ length: 20 }, async () => {
      while (!state.isOver) expect(await chat('Say something.')).toBe(200)
    }),
  )
  try {
    for (let turn = 0; turn < 15; turn++) {
      process.kill(gateway.pid, 'SIGSTOP')
      const health = fetch(`${gateway.url}/healthz`)
      process.kill(gateway.pid, 'SIGCONT')
      expect((await health).status).toBe(200)
    }
  } finally {
    state.isOver = true
    await load
  }
})

test('P06: after more than it can do it serves as before', async () => {
  const statuses = new Set<number>()
  const load = Array.from({ length: 300 }, async () => {
    for (let sent = 0; sent < 4; sent++) statuses.add(await chat('Say something.'))
  })
  await Promise.all(load)
  for (const status of statuses) expect(status).toBeOneOf([200, 429, 503])
  const tookMs = await eventually(async () => {
    for (let found = 0; found < 20; found++) {
      if ((await chat('Say something.')) !== 200) return false
    }
    return true
  })
  recordFigure('P06: 20 answers in a row', tookMs, { unit: 'ms', atMost: 30_000 })
})
