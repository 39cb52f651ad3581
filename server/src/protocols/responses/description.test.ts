import { expect, test } from 'bun:test'
import * as fc from '../../../testing/property'
import { dialect } from '../../../testing/protocols/responses-dialect'
import {
  anyChunks,
  baseRequest,
  chunkOf,
  parseEvents,
  identity,
  streamEvents,
} from '../../../testing/protocols/responses-events'
import { hasFixtures, validate } from '../../../../tests/harness/fixtures'
import { ApiError } from '../../errors'
import type { JsonObject } from '../../wire/json-body'

const problemsIn = (schema: string, value: JsonObject) =>
  validate(schema, value).map((problem) => `${JSON.stringify(value['type'] ?? schema)}: ${problem}`)

/** A request with every field that its answer repeats. */
const full: JsonObject = {
  ...baseRequest,
  instructions: 'Be brief.',
  temperature: 0.5,
  top_p: 0.9,
  max_output_tokens: 64,
  parallel_tool_calls: false,
  reasoning: { effort: 'low', summary: 'auto' },
  text: { format: { type: 'json_schema', name: 'answer', schema: {} }, verbosity: 'low' },
  tool_choice: {
    type: 'allowed_tools',
    mode: 'auto',
    tools: [{ type: 'function', name: 'look' }],
  },
  metadata: { team: 'blue' },
  user: 'somebody',
  safety_identifier: 'nobody',
  prompt_cache_key: 'key',
}

if (!hasFixtures) console.log('The folder of fixtures is absent: events are not held against it.')

test.if(hasFixtures)('every event matches OpenAI’s description, for any chunks', () => {
  const property = fc.property(anyChunks, fc.constantFrom(baseRequest, full), (chunks, request) => {
    const problems = streamEvents(chunks, request).flatMap((it) =>
      problemsIn('ResponseStreamEvent', it),
    )
    if (problems.length > 0) throw new Error(problems.join('\n'))
  })
  fc.assert(property, { numRuns: 30 })
})

test.if(hasFixtures)('a failure is as OpenAI describes it', () => {
  const writer = dialect.read(full).writer(identity, 9)
  const text =
    writer.write(JSON.stringify(chunkOf({ content: 'a' }))) +
    writer.fail(new ApiError('request_timeout'), 'req_1')
  const events = parseEvents(text)
  expect(events.at(-1)?.['type']).toBe('response.failed')
  expect(events.flatMap((event) => problemsIn('ResponseStreamEvent', event))).toEqual([])
})

const call = (id: string, name: string) => ({
  id,
  type: 'function',
  function: { name, arguments: '{"input":"a"}' },
})

test.if(hasFixtures)('a whole answer is as OpenAI describes it', () => {
  const message = {
    role: 'assistant',
    content: 'Hello!',
    refusal: null,
    reasoning_content: 'Hm.',
    tool_calls: [call('call_a', 'look'), call('call_b', 'write')],
  }
  const answer = dialect.read(full).answer({
    ...identity,
    object: 'chat.completion',
    choices: [{ index: 0, message, logprobs: null, finish_reason: 'tool_calls' }],
    usage: { prompt_tokens: 1, completion_tokens: 2, total_tokens: 3 },
  })
  expect(answer).toMatchObject({
    status: 'completed',
    output: [
      { type: 'reasoning', summary: [{ text: 'Hm.' }] },
      { type: 'message', content: [{ text: 'Hello!' }] },
      { type: 'function_call', call_id: 'call_a', arguments: '{"input":"a"}' },
      { type: 'custom_tool_call', call_id: 'call_b', input: 'a' },
    ],
    usage: { input_tokens: 1, output_tokens: 2, total_tokens: 3 },
  })
  expect(problemsIn('Response', { ...answer })).toEqual([])
})
