import { afterAll, afterEach, beforeAll, describe, expect, test } from 'bun:test'
import { ask, openStreams, scripted, type Door } from './fixture'
import { voices } from './voices'
import { isJson } from '../../providers/conformance/fixture'
import { parsed } from '../../harness/http'
import type { Front } from '../../providers/translated/front'

let front: Front
beforeAll(async () => {
  front = await openStreams()
})
afterEach(() => front.reset())
afterAll(() => front[Symbol.asyncDispose]())

/** A picture of 3 MB. */
const data = `iVBOR${'A'.repeat(3 << 20)}`
const url = `data:image/png;base64,${data}`
const event = {
  candidates: [
    {
      content: {
        role: 'model',
        parts: [{ text: 'Look:' }, { inlineData: { mimeType: 'image/png', data } }],
      },
      finishReason: 'STOP',
    },
  ],
  usageMetadata: { promptTokenCount: 5, candidatesTokenCount: 1290 },
}
const drawn = () => scripted([`data: ${JSON.stringify(event)}\n\n`])
const counted = { outcome: 'ok', inputTokens: 5, outputTokens: 1290 }

describe('finding Q11: a picture of a model', () => {
  test.each<Door>([
    { door: 'chat', stream: true },
    { door: 'chat', stream: false },
  ])('of more than 1 MB arrives behind $door, stream $stream', async (door) => {
    front.answer = drawn
    const answer = await ask(front, door, 'google')
    expect(answer.status).toBe(200)
    expect(answer.text.includes(`"url":"${url}"`)).toBe(true)
    expect(await front.booked(answer)).toMatchObject(counted)
  })

  test.each<Door>([
    { door: 'responses', stream: true },
    { door: 'responses', stream: false },
  ])('is an item behind $door, stream $stream', async (door) => {
    front.answer = drawn
    const answer = await ask(front, door, 'google')
    const events = answer.text
      .split('\n')
      .filter((line) => line.startsWith('data: '))
      .map((line) => parsed(line.slice(6)))
    const last = door.stream ? events.at(-1)?.['response'] : answer.body
    const output: unknown = isJson(last) ? last['output'] : undefined
    const items = Array.isArray(output) ? output : []
    expect(items.map(({ type }) => type)).toEqual(['message', 'image_generation_call'])
    expect(items[1]).toMatchObject({ status: 'completed', output_format: 'png' })
    expect(items[1].result === data).toBe(true)
    expect(await front.booked(answer)).toMatchObject(counted)

    front.reset()
    await front.post('/v1/responses', {
      model: voices.google.model,
      input: [{ role: 'user', content: 'Draw.' }, ...items, { role: 'user', content: 'Again.' }],
    })
    expect(JSON.stringify(front.requests[0]?.body['contents']).includes(data)).toBe(true)
  })

  test('of OpenAI’s is relayed', async () => {
    const { opening } = voices.responses
    const item = { id: 'ig_1', type: 'image_generation_call', status: 'completed', result: data }
    const completed = {
      id: 'resp_1',
      status: 'completed',
      output: [item],
      usage: { input_tokens: 5, output_tokens: 1290, total_tokens: 1295 },
    }
    const frames = [
      { type: 'response.output_item.added', output_index: 0, item: { ...item, result: null } },
      { type: 'response.image_generation_call.partial_image', partial_image_b64: data },
      { type: 'response.output_item.done', output_index: 0, item },
      { type: 'response.completed', response: completed },
    ].map((each) => `data: ${JSON.stringify(each)}\n\n`)
    front.answer = () => scripted([...opening, ...frames])
    const answer = await ask(front, { door: 'responses', stream: true }, 'responses')
    expect(answer.text.split(data)).toHaveLength(4)
    expect(answer.text).toContain('event: response.completed')
    expect(await front.booked(answer)).toMatchObject(counted)
  })
})
