import { z } from 'zod'
import { customIssue } from '../../wire/field-error'
import {
  maxTools,
  maybe,
  metadataField,
  modelField,
  outputLimit,
  samplingFields,
  text,
  userField,
} from '../../wire/fields'

/** A tool of a request. Its other fields depend on its type: see `tool-set.ts`. */
const Tool = z.looseObject({ type: text(64, 1) })

const ToolChoice = z.union([
  z.enum(['none', 'auto', 'required']),
  z.looseObject({ type: text(64, 1) }),
])
export type ToolChoice = z.output<typeof ToolChoice>

const shape = {
  model: modelField,
  input: maybe(z.union([z.string().min(1), z.array(z.looseObject({})).min(1).max(100_000)])),
  instructions: maybe(z.string()),
  max_output_tokens: outputLimit.describe(
    'Maximum number of tokens of the answer, including reasoning',
  ),
  ...samplingFields,
  tools: maybe(z.array(Tool).max(maxTools)),
  tool_choice: maybe(ToolChoice),
  parallel_tool_calls: maybe(z.boolean()),
  text: maybe(z.looseObject({})),
  reasoning: maybe(z.looseObject({})),
  stream: maybe(z.boolean()).describe('Answer as server-sent events'),
  include: maybe(z.array(text(128)).max(100)),
  store: maybe(z.boolean()),
  background: maybe(z.boolean()),
  previous_response_id: maybe(text(256)),
  conversation: maybe(z.union([text(256), z.looseObject({})])),
  prompt: maybe(z.looseObject({})),
  metadata: metadataField,
  user: userField,
  safety_identifier: maybe(z.string()),
  prompt_cache_key: maybe(z.string()),
  prompt_cache_retention: maybe(z.string()),
  service_tier: maybe(z.string()),
}

/** Fields that name data stored at a provider, which may stand for an input. */
export const storedFields = ['previous_response_id', 'conversation', 'prompt'] as const

/** The member of `include` that asks for thoughts in a form that only their provider can read. */
export const encryptedThoughts = 'reasoning.encrypted_content'

/**
 * `POST /v1/responses`: the fields that Tollgate reads, of which each may be wrong for any provider.
 * Fields that only some providers take are read in `chat.ts`. Source: contract 5.2.
 */
export const ResponsesRequest = z.looseObject(shape).superRefine((request, ctx) => {
  if (request.input !== undefined && request.input !== null) return
  if (storedFields.some((name) => request[name])) return
  ctx.addIssue(customIssue('required', 'this field is required.', ['input']))
})
export type ResponsesRequest = z.output<typeof ResponsesRequest>
