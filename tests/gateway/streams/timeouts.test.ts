import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { addressOf, ask, heard, openStreams, scripted, text, type Door } from './fixture'
import { answerOf, voices } from './voices'
import type { Front } from '../../providers/translated/front'
import { eventually } from '../../../server/testing/eventually'
import { createHold } from '../../../server/testing/hold'

let front: Front
beforeAll(async () => {
  front = await openStreams({
    // Only the connection below.
    GROQ_API_KEY: '',
    FIRST_BYTE_TIMEOUT_SECONDS: '1',
    IDLE_TIMEOUT_SECONDS: '1',
    REQUEST_TIMEOUT_SECONDS: '2',
  })
  const patient = { first_byte_seconds: 20, idle_seconds: 20, request_seconds: 20 }
  const timeouts = {
    idle_seconds: 1,
    models: { patient, deep: { ...patient, needs_seconds: 100 } },
  }
  await front.gateway.admin('POST', '/connections', {
    name: 'timed',
    provider: 'groq',
    api_key: 'sk-timed',
    endpoint_url: addressOf('groq', front.url),
    priority: 1,
    is_default: true,
    options: { timeouts },
  })
  for (const id of ['groq/patient', 'groq/deep']) {
    await front.price(id, { context_length: 200_000, max_output_tokens: 64_000 })
  }
})
afterAll(() => front[Symbol.asyncDispose]())

const stream: Door = { door: 'chat', stream: true }
const whole: Door = { door: 'chat', stream: false }

/** Waits until a request of a model without patience, which began later than those that are held, has timed out. */
async function untilTimedOut(): Promise<void> {
  const answer = front.answer
  front.answer = () => scripted(answerOf(voices.chat, text).slice(0, 2), { staysOpen: true })
  expect((await ask(front, stream, ['chat', 'groq/m'])).text).toContain('request_timeout')
  front.answer = answer
}

describe('finding V22: timeouts of a connection and of its models', () => {
  test('a model that may pause does', async () => {
    const [opening = '', ...rest] = answerOf(voices.chat, text)
    const [first, second] = [createHold(), createHold()]
    front.answer = () => scripted([first, opening, second, ...rest])
    const asking = ask(front, stream, ['chat', 'groq/patient'])
    for (const pause of [first, second]) {
      await eventually(() => pause.heldCount() === 1)
      await untilTimedOut()
      pause.release()
    }
    expect(heard(stream, await asking)).toEqual({ text, isWhole: true })
  })

  test('a whole answer of it too, others end as the installation says', async () => {
    const pause = createHold()
    front.answer = async () => {
      await pause.hold()
      return Response.json(voices.chat.whole(text))
    }
    const asking = ask(front, whole, ['chat', 'groq/patient'])
    await eventually(() => pause.heldCount() === 1)
    expect((await ask(front, whole, ['chat', 'groq/m'])).error.code).toBe('request_timeout')
    pause.release()
    expect((await asking).status).toBe(200)
  })

  test('others end as the connection says', async () => {
    front.answer = () => scripted(answerOf(voices.chat, text).slice(0, 2), { staysOpen: true })
    const answer = await ask(front, stream, ['chat', 'groq/m'])
    expect(heard(stream, answer).isWhole).toBe(false)
    expect(answer.text).toContain('request_timeout')
  })

  test('a limit that is known to be too short refuses at once, before a provider is called', async () => {
    const before = front.requests.length
    const answer = await ask(front, whole, ['chat', 'groq/deep'])
    expect([answer.status, answer.error.param]).toEqual([400, 'stream'])
    expect(answer.error.message).toContain('Set "stream" to true.')
    expect(front.requests).toHaveLength(before)
    front.answer = () => scripted(answerOf(voices.chat, text))
    expect((await ask(front, stream, ['chat', 'groq/deep'])).status).toBe(200)
  })
})
