import { afterAll, afterEach, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test'
import { claude, events, framesOf, head, start, streamOf, usage } from './claude'
import { messages, path } from './messages-stage'
import type { Json } from '../conformance/stage'
import { ask } from '../faults/asking'
import { upstreamSecret } from '../rig'
import { openFront, type Front } from '../translated/front'

setDefaultTimeout(20_000)

const asked = { model: claude, max_tokens: 100, messages }

let front: Front

beforeAll(async () => {
  front = await openFront((url) => ({
    ANTHROPIC_API_KEY: upstreamSecret,
    ANTHROPIC_BASE_URL: url,
  }))
  await front.price(claude)
})
afterEach(() => front.reset())
afterAll(() => front[Symbol.asyncDispose]())

const post = (body: Json) =>
  ask(front.gateway, { path, key: front.customer.key, body: { ...asked, ...body } })

describe('streams of Anthropic that are odd', () => {
  test('finding P6: an answer given whole in message_start comes back as it was', async () => {
    const content = [
      {
        type: 'tool_use',
        id: 'toolu_1',
        name: 'look',
        input: { at: 'sky' },
        caller: { type: 'x' },
      },
    ]
    const given: Json = {
      type: 'message_start',
      message: { ...head, content, stop_reason: 'tool_use', usage },
    }
    front.answer = () => streamOf([given, { type: 'message_stop' }])
    const answer = await post({ stream: true })
    const message = { ...head, content, stop_reason: 'tool_use', usage, model: claude }
    expect(answer.text).toBe(
      framesOf([{ type: 'message_start', message }, { type: 'message_stop' }]),
    )
    expect(await front.booked(answer)).toMatchObject({ inputTokens: 10, outputTokens: 2 })
  })

  test('finding P8: a second message spliced into the first ends in an error', async () => {
    const other = { ...start, message: { ...head, id: 'msg_other', content: [], usage } }
    front.answer = () => streamOf([...events.slice(0, 4), other, ...events.slice(2)])
    const answer = await post({ stream: true })
    expect(answer.text).not.toContain('msg_other')
    expect(answer.text).toContain('event: error')
    expect(answer.text).not.toContain('message_stop')
  })
})
