import { test } from 'bun:test'
import * as fc from '../../../testing/property'
import { dialect } from '../../../testing/protocols/responses-dialect'
import { ApiError } from '../../errors'
import { ChatRequest } from '../../wire/chat-request'
import { isObject, type JsonObject } from '../../wire/json-body'

const shortText = fc.string({ maxLength: 3 })
const id = fc.constantFrom('a', 'b', 'c')
const image = fc.constant({ type: 'input_image', image_url: 'https://example.com/a.png' })
const file = fc.constant({ type: 'input_file', file_id: 'file_1' })
const textPart = fc.record({ type: fc.constantFrom('input_text', 'output_text'), text: shortText })
const refused = fc.record({ type: fc.constant('refusal'), refusal: shortText })
const outputContent = fc.oneof(
  shortText,
  fc.array(fc.oneof(textPart, image, file), { maxLength: 3 }),
)
const content = fc.oneof(
  shortText,
  fc.array(fc.oneof(textPart, refused, image, file), { maxLength: 3 }),
)

const item = fc.oneof(
  fc.record({ role: fc.constantFrom('user', 'system', 'developer', 'assistant'), content }),
  fc.record({
    type: fc.constant('function_call'),
    call_id: id,
    name: fc.constant('look'),
    arguments: shortText,
  }),
  fc.record({
    type: fc.constant('custom_tool_call'),
    call_id: id,
    name: fc.constant('write'),
    input: shortText,
  }),
  fc.record({
    type: fc.constantFrom('function_call_output', 'custom_tool_call_output'),
    call_id: id,
    output: outputContent,
  }),
  fc.record({ type: fc.constant('reasoning'), encrypted_content: shortText }),
)

const tool = fc.constantFrom(
  { type: 'function', name: 'look' },
  { type: 'custom', name: 'write', format: { type: 'grammar' } },
  { type: 'web_search' },
)
const choice = fc.oneof(
  fc.constantFrom(undefined, 'auto', 'none', 'required'),
  tool,
  fc.record({ type: fc.constant('allowed_tools'), tools: fc.array(tool, { maxLength: 2 }) }),
)

const request = fc.record({
  model: fc.constant('sandbox/echo'),
  input: fc.array(item, { minLength: 1, maxLength: 12 }),
  tools: fc.array(tool, { maxLength: 3 }),
  tool_choice: choice,
})

/** Undefined for a request that is refused. */
function chatOf(body: JsonObject): JsonObject | undefined {
  try {
    const { chat, refusal } = dialect.read(body)
    return refusal ? undefined : chat
  } catch (thrown) {
    if (thrown instanceof ApiError && thrown.code === 'invalid_request') return undefined
    throw thrown
  }
}

test('an accepted request becomes an accepted chat, its results behind their calls', () => {
  let accepted = 0
  const property = fc.property(request, (body) => {
    const chat = chatOf(body)
    if (!chat) return
    accepted += 1
    const { messages } = ChatRequest.parse(chat)
    let open: string[] = []
    for (const { role, tool_calls: calls, tool_call_id: answered } of messages) {
      if (role !== 'tool') open = (calls ?? []).map((call) => call.id)
      else if (!open.includes(answered ?? '')) throw new Error('a result without its call')
    }
    const results = body.input.filter((it) => 'output' in it).length
    const toolResults = messages.filter(({ role }) => role === 'tool').length
    if (toolResults !== results || !messages.every(isObject)) throw new Error('a result is gone')
  })
  const runs = fc.runsOf(2000)
  fc.assert(property, { numRuns: runs })
  if (accepted < runs / 10) throw new Error(`only ${accepted} were taken`)
})
