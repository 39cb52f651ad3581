import { expect, test } from 'bun:test'
import { dialect } from '../../../testing/protocols/responses-dialect'
import {
  baseRequest,
  chunkOf,
  identity,
  parseEvents,
  usageChunk,
} from '../../../testing/protocols/responses-events'
import { ApiError } from '../../errors'
import { isObject, type JsonObject } from '../../wire/json-body'

/** Fields that Open Responses requires beside OpenAI's, with the values of a request that has none of them. */
const absent = {
  completed_at: null,
  frequency_penalty: 0,
  presence_penalty: 0,
  top_logprobs: 0,
  max_tool_calls: null,
  service_tier: null,
  safety_identifier: null,
  prompt_cache_key: null,
}

const responsesOf = (finish: string, request: JsonObject = baseRequest) => {
  const writer = dialect.read(request).writer(identity, 9)
  const chunks = [chunkOf({ content: 'Hi.' }), chunkOf({}, finish), usageChunk]
  const frames = chunks.map((chunk) => writer.write(JSON.stringify(chunk))).join('') + writer.end()
  return parseEvents(frames).flatMap(({ response }) => (isObject(response) ? [response] : []))
}

test('finding D4: each Response of a stream has the fields that Open Responses requires', () => {
  const [created, inProgress, completed] = responsesOf('stop')
  expect(created).toMatchObject(absent)
  expect(inProgress).toMatchObject(absent)
  expect(completed).toMatchObject({ ...absent, completed_at: expect.any(Number) })
  expect(completed).not.toHaveProperty('user')
})

test('finding D4: a response that is incomplete, or failed, has them and was not completed', () => {
  expect(responsesOf('length').at(-1)).toMatchObject({ ...absent, status: 'incomplete' })
  const writer = dialect.read(baseRequest).writer(identity, 9)
  const events = parseEvents(writer.fail(new ApiError('request_timeout'), 'req_1'))
  expect(events.at(-1)?.['response']).toMatchObject({ ...absent, status: 'failed' })
})

test('finding D4: a whole Response has them, and the names that its request gave', () => {
  const names = { safety_identifier: 'a', prompt_cache_key: 'b', user: 'c' }
  const before = Math.floor(Date.now() / 1000)
  const message = { role: 'assistant', content: 'Hi.' }
  const answer = dialect.read({ ...baseRequest, ...names }).answer({
    ...identity,
    choices: [{ index: 0, message, finish_reason: 'stop' }],
    usage: { prompt_tokens: 1, completion_tokens: 2, total_tokens: 3 },
  })
  const { completed_at: _completed, ...others } = absent
  expect(answer).toMatchObject({ ...others, ...names })
  expect(Reflect.get(answer, 'completed_at')).toBeGreaterThanOrEqual(before)
})
