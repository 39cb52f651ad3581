import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test'
import { newChatClient, messages, type ChatClient } from '../../harness/http'
import { eventually } from '../../../server/testing/eventually'
import { startRig, type Rig } from '../../harness/server'
import { recordFigure, recordTimeFigure } from '../../../server/testing/figures'

/** `OVERLOAD_SECONDS=60` for what is promised. */
const overloadSeconds = Number(process.env['OVERLOAD_SECONDS'] ?? 4)

setDefaultTimeout(90_000 + overloadSeconds * 2000)

const maxRunning = 20
/** How long the provider takes for each. */
const upstreamMs = 300
const model = `slow-first-${upstreamMs}`

interface Answered {
  status: number
  tookMs: number
}

const quantile = (answers: readonly Answered[], part: number) => {
  const times = answers.map(({ tookMs }) => tookMs).toSorted((a, b) => a - b)
  return times[Math.floor(times.length * part)] ?? Number.NaN
}

let rig: Rig
let chatClient: ChatClient

beforeAll(async () => {
  rig = await startRig({
    // By the running requests alone: the event loop of a busy machine may be late as well.
    environment: { MOST_RUNNING_REQUESTS: String(maxRunning), MOST_LOOP_DELAY_MS: '0' },
  })
  chatClient = await newChatClient(rig)
  await rig.model(model)
})
afterAll(() => rig[Symbol.asyncDispose]())

/** One request, without the recorder: it is not what is measured. */
async function chat(): Promise<Answered> {
  const startedAt = performance.now()
  const response = await fetch(`${rig.gateway.url}/v1/chat/completions`, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${chatClient.customer.key}`,
      'content-type': 'application/json',
    },
    body: JSON.stringify({ model: `fake/${model}`, messages }),
  })
  await response.text()
  return { status: response.status, tookMs: performance.now() - startedAt }
}

/** What is answered well a second when no more are sent than may run. */
async function peak(seconds: number): Promise<number> {
  const endMs = performance.now() + seconds * 1000
  let good = 0
  const lane = async () => {
    while (performance.now() < endMs) if ((await chat()).status === 200) good += 1
  }
  await Promise.all(Array.from({ length: maxRunning - 1 }, lane))
  return good / seconds
}

/** Sends so many a second, whatever becomes of them. */
async function flood(perSecond: number, seconds: number): Promise<Answered[]> {
  const startedAt = performance.now()
  const sent: Promise<Answered>[] = []
  for (let elapsed = 0; elapsed < seconds * 1000; elapsed = performance.now() - startedAt) {
    while (sent.length < (elapsed / 1000) * perSecond) sent.push(chat())
    await Bun.sleep(5)
  }
  return Promise.all(sent)
}

test(`H17: at five times its capacity for ${overloadSeconds} s it serves its capacity, and rejects the rest at once`, async () => {
  await chat()
  const capacity = await peak(2)
  const requests = rig.upstream.requests().length
  const running = chatClient.stream(`chunks-20-gap-${overloadSeconds * 50}`)
  await eventually(() => rig.upstream.requests().length > requests)

  // More than fits in, also where the machine stood still while it was measured.
  const all = await flood(Math.max(capacity * 5, 200), overloadSeconds)
  expect((await running).isDone).toBe(true)
  const [good, shed] = [200, 503].map((code) => all.filter(({ status }) => status === code))
  if (!good || !shed) throw new Error('nothing was answered')
  expect(good.length + shed.length).toBe(all.length)
  const goodput = good.length / overloadSeconds
  recordFigure('H17: answers under overload, of those without', (100 * goodput) / capacity, {
    unit: '%',
    atLeast: 80,
  })
  const answeredMs = quantile(good, 0.99)
  recordFigure('H17: p99 of answers', answeredMs, { unit: 'ms', atMost: upstreamMs + 500 })
  recordFigure('H17: p50 of refusals', quantile(shed, 0.5), { unit: 'ms', atMost: 20 })

  const boundMs = 20 * (upstreamMs + 250) + 5000
  await recordTimeFigure('H17: 20 answers in a row', { atMost: boundMs }, async () => {
    for (let found = 0; found < 20;) found = (await chat()).status === 200 ? found + 1 : 0
  })
})
