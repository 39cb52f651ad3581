import { describe, expect, test } from 'bun:test'
import * as fc from '../../testing/property'
import { z } from 'zod'
import { CallerChat, TranslatedChat } from './chat-request'
import { CompletionRequest } from './completion-request'
import { EmbeddingRequest } from './embedding-request'
import { isObject, parseObject, type JsonObject } from './json-body'
import { toSparse } from './sparse'

/** What a schema makes of a value: its copy, its issues in their order, or what it throws. */
function outcomeOf(schema: z.ZodType, value: unknown) {
  try {
    const { success, data, error } = schema.safeParse(value)
    return success ? { data } : { issues: error?.issues }
  } catch (thrown) {
    return { thrown: String(thrown) }
  }
}

/** A clone is the schema as zod has it. */
const isSame = (schema: z.ZodType, value: unknown) =>
  Bun.deepEquals(outcomeOf(schema, value), outcomeOf(schema.clone(), value), true)

const text = fc.constantFrom('a', 'auto', 'none', 'b')
const whole = fc.constantFrom(0, 1, 2, 8)
const fraction = fc.constantFrom(0, 0.5, 1)
const flag = fc.boolean()
const nothing = fc.constant({})
const optional = { requiredKeys: [] }

const part = fc.constantFrom<JsonObject>(
  { type: 'text', text: 'a' },
  { type: 'image_url', image_url: { url: 'https://host.test/a.png', detail: null } },
  { type: 'input_audio', input_audio: { data: 'AAAA', format: 'wav' } },
  { type: 'file', file: { file_id: 'f', more: 1 } },
  { type: 'refusal', refusal: 'no' },
)
const called = fc.record({ name: text, arguments: text })
const customTool = fc.record({ name: text, input: text })
const toolCall = fc.oneof(
  fc.record({ id: text, type: fc.constant('function'), function: called }),
  fc.record({ id: text, type: fc.constant('custom'), custom: customTool }),
)
const plain = fc.record({ role: fc.constantFrom('user', 'system'), content: text })
const message = fc.record(
  {
    role: fc.constantFrom('user', 'assistant', 'system', 'tool', 'developer', 'function'),
    content: fc.oneof(text, fc.array(part, { maxLength: 3 }), fc.constantFrom(null, undefined)),
    name: text,
    tool_calls: fc.array(toolCall, { maxLength: 2 }),
    function_call: called,
    tool_call_id: text,
    refusal: text,
    toString: fc.constant('own'),
  },
  { requiredKeys: ['role', 'content'] },
)
const definition = fc.record({ name: text, strict: flag }, { requiredKeys: ['name'] })
const inputFormat = fc.constantFrom<JsonObject>(
  { type: 'text' },
  { type: 'grammar', grammar: { syntax: 'lark', definition: 'start: "a"' } },
)
const customDefinition = fc.record({ name: text, format: inputFormat }, { requiredKeys: ['name'] })
const tool = fc.oneof(
  fc.record({ type: fc.constant('function'), function: definition }),
  fc.record({ type: fc.constant('custom'), custom: customDefinition }),
)
const effort = fc.constantFrom('low', 'none')

const common = {
  temperature: fraction,
  top_p: fraction,
  n: fc.constantFrom(1, 8),
  stop: fc.oneof(text, fc.array(text, { maxLength: 4 })),
  stream: flag,
  stream_options: fc.record({ include_usage: flag, more: text }, optional),
  max_tokens: whole,
  max_completion_tokens: whole,
  presence_penalty: fraction,
  frequency_penalty: fraction,
  seed: whole,
  user: text,
  logit_bias: fc.dictionary(text, fraction, { maxKeys: 2 }),
  top_k: whole,
  constructor: fc.constant('own'),
}
const chat = fc.record(
  {
    model: text,
    messages: fc.array(fc.oneof({ weight: 3, arbitrary: plain }, message), {
      minLength: 1,
      maxLength: 4,
    }),
    ...common,
    tools: fc.array(tool, { maxLength: 2 }),
    tool_choice: fc.constantFrom<unknown>(
      'auto',
      { type: 'function', function: { name: 'a' } },
      { type: 'custom', custom: { name: 'a' } },
    ),
    functions: fc.array(definition, { maxLength: 2 }),
    function_call: fc.constantFrom<unknown>('auto', { name: 'a' }),
    parallel_tool_calls: flag,
    response_format: fc.record({ type: fc.constantFrom('text', 'json_object') }),
    logprobs: fc.constant(true),
    top_logprobs: whole,
    reasoning_effort: effort,
    reasoning: fc.record({ effort }, optional),
    modalities: fc.array(fc.constantFrom('text', 'audio'), { maxLength: 2 }),
    audio: nothing,
    metadata: fc.dictionary(text, text, { maxKeys: 3 }),
    store: flag,
    service_tier: text,
    prediction: nothing,
  },
  { requiredKeys: ['model', 'messages'] },
)
const prompt = fc.oneof(text, fc.array(text), fc.array(whole), fc.constant([[1], [2, 3]]))
const completion = fc.record(
  { model: text, prompt, ...common, echo: flag, suffix: text, best_of: whole },
  { requiredKeys: ['model', 'prompt'] },
)
const format = fc.constantFrom('float', 'base64', null)
const embedding = fc.record(
  { model: text, input: prompt, dimensions: fc.constant(8), encoding_format: format, user: text },
  { requiredKeys: ['model', 'input'] },
)

const odd = fc.constantFrom<unknown>(
  null,
  undefined,
  '',
  'user',
  'tool',
  'x'.repeat(600),
  -1,
  1.5,
  1e21,
  true,
  [],
  [null],
  [{}],
  Array.from({ length: 300 }, () => 'a'),
  {},
  { type: 'text' },
  { length: 1 },
  { length: {} },
  { length: { valueOf: 1 } },
)
interface Damage {
  /** Which way is taken at each fork of the body. */
  turns: number[]
  value: unknown
  removes: boolean
}
const damage: fc.Arbitrary<Damage> = fc.record({
  turns: fc.array(fc.nat(40), { minLength: 1, maxLength: 6 }),
  value: odd,
  removes: flag,
})

/** A copy in which something stands that does not belong there, or is missing. */
function damaged(value: unknown, { turns, ...how }: Damage): unknown {
  const [turn, ...rest] = turns
  if (turn === undefined) return how.value
  if (!isObject(value) && !Array.isArray(value)) return how.value
  const keys = Object.keys(value)
  const key = keys[turn % keys.length]
  if (key === undefined) return how.value
  const copy: object = Array.isArray(value) ? [...value] : { ...value }
  if (rest.length === 0 && how.removes) Reflect.deleteProperty(copy, key)
  else Reflect.set(copy, key, damaged(Reflect.get(value, key), { turns: rest, ...how }))
  return copy
}

const bodies: [string, z.ZodType, fc.Arbitrary<JsonObject>][] = [
  ['chat', CallerChat, chat],
  ['translated chat', TranslatedChat, chat],
  ['completion', CompletionRequest, completion],
  ['embedding', EmbeddingRequest, embedding],
]

describe.each(bodies)('a %s request', (_name, schema, body) => {
  test('is parsed and rejected exactly as by zod, for any content', () => {
    let fine = 0
    let refused = 0
    const property = fc.property(body, fc.array(damage, { maxLength: 3 }), (good, damages) => {
      // Objects as JSON has them, with a prototype.
      const damagedValue = structuredClone(damages.reduce<unknown>(damaged, good))
      if (schema.safeParse(damagedValue).success) fine++
      else refused++
      return isSame(schema, damagedValue)
    })
    const runs = fc.runsOf(2000)
    fc.assert(property, { numRuns: runs })
    // Else nothing was seen of one side.
    expect(Math.min(fine, refused)).toBeGreaterThan(runs / 20)
  })
})

const Pair = toSparse(
  z
    .looseObject({ one: z.string().nullish(), both: z.array(z.int()).min(1).max(2) })
    .refine(({ one }) => one !== 'wrong', { path: ['one'] }),
)

test.each<[string, unknown]>([
  ['without an optional field', { both: [1] }],
  ['with a null member', { one: null, both: [1, 2] }],
  ['with an undefined member', { one: undefined, both: [1] }],
  [
    'with fields that the schema does not name',
    { both: [1], toString: 1, constructor: 2, more: {} },
  ],
  ['with an invalid member', { one: 'wrong', both: [1] }],
  ['with a list that is too short', { both: [] }],
  ['with a list that is too long', { both: [1, 2, 3] }],
  ['with two faults', { both: ['a', 1, 2], one: 1 }],
  ['without a required field', { one: 'a' }],
  ['with a required field that is undefined', { both: undefined }],
  ['as a list', []],
  ['as null', null],
  ['as a text', 'both'],
])('an object %s is judged as zod does', (_name, value) => {
  expect(outcomeOf(Pair, value)).toEqual(outcomeOf(Pair.clone(), value))
})

test('returns a copy of a valid body, so that changes do not affect the original', () => {
  const body = parseObject('{"both":[1],"more":{"a":1}}')
  const read: unknown = Pair.parse(body)
  expect(read).toEqual(body)
  expect(read).not.toBe(body)
})
