import { z } from 'zod'
import { Item } from './items'
import { broken } from '../../wire/field-error'
import {
  effort,
  maxTools,
  maybe,
  metadataField,
  modelField,
  outputLimit,
  samplingFields,
  text,
  userField,
} from '../../wire/fields'

/** Types of tools that a caller runs himself; all others are OpenAI's own to run. */
export const isCallable = (type: unknown) => type === 'function' || type === 'custom'

const Tool = z
  .looseObject({
    type: text(64, 1),
    name: maybe(text(128, 1)),
    description: maybe(z.string()),
    parameters: maybe(z.looseObject({})),
    strict: maybe(z.boolean()),
    format: maybe(z.looseObject({ type: z.string() })),
  })
  .superRefine(({ type, name }, ctx) => {
    if (!isCallable(type) || name) return
    ctx.addIssue(broken('required', 'this field is required.', ['name']))
  })
export type Tool = z.output<typeof Tool>

const ToolChoice = z.union([
  z.enum(['none', 'auto', 'required']),
  z.looseObject({
    type: z.string(),
    name: maybe(z.string()),
    mode: maybe(z.enum(['auto', 'required'])),
    tools: maybe(
      z.array(z.looseObject({ type: z.string(), name: maybe(z.string()) })).max(maxTools),
    ),
  }),
])
type ToolChoice = z.output<typeof ToolChoice>

const Format = z.discriminatedUnion('type', [
  z.looseObject({ type: z.literal('text') }),
  z.looseObject({ type: z.literal('json_object') }),
  z.looseObject({
    type: z.literal('json_schema'),
    name: text(64, 1),
    schema: z.looseObject({}),
    strict: maybe(z.boolean()),
    description: maybe(z.string()),
  }),
])

const shape = {
  model: modelField,
  input: z.union([z.string().min(1), z.array(Item).min(1).max(100_000)]),
  instructions: maybe(z.string()),
  max_output_tokens: outputLimit.describe('The most tokens of the answer, thoughts included'),
  ...samplingFields,
  tools: maybe(z.array(Tool).max(maxTools)),
  tool_choice: maybe(ToolChoice),
  parallel_tool_calls: maybe(z.boolean()),
  text: maybe(
    z.looseObject({
      format: maybe(Format),
      verbosity: maybe(z.enum(['low', 'medium', 'high'])),
    }),
  ),
  reasoning: maybe(z.looseObject({ effort: maybe(effort), summary: maybe(z.string()) })),
  stream: maybe(z.boolean()).describe('Answer as server-sent events'),
  include: maybe(z.array(text(128)).max(100)),
  store: maybe(z.boolean()).describe('Accepted; nothing is kept'),
  metadata: metadataField,
  user: userField,
  safety_identifier: maybe(z.string()),
  prompt_cache_key: maybe(z.string()),
  prompt_cache_retention: maybe(z.string()),
  service_tier: maybe(z.string()),
}

/** What would need answers, prompts or conversations that were kept. */
const keeping = ['previous_response_id', 'conversation', 'prompt', 'background'] as const

const isAsked = (value: unknown) => value !== undefined && value !== null && value !== false

/** `POST /v1/responses`; nothing is kept between requests. Source: wire.md 13.3. */
export const ResponsesRequest = z.looseObject(shape).superRefine((request, ctx) => {
  for (const field of keeping) {
    if (!isAsked(request[field])) continue
    ctx.addIssue(broken('not_allowed', 'nothing is kept here between requests.', [field]))
  }
  checkNames(request.tools ?? [], ctx)
  checkChoice(request.tool_choice, request.tools ?? [], ctx)
})
export type ResponsesRequest = z.output<typeof ResponsesRequest>

/** Calls come back by name alone: one name cannot stand for both kinds. */
function checkNames(tools: readonly Tool[], ctx: z.RefinementCtx): void {
  const types = new Map<string, string>()
  for (const [index, { type, name }] of tools.entries()) {
    if (!name || !isCallable(type)) continue
    if ((types.get(name) ?? type) !== type) {
      ctx.addIssue(broken('duplicate', 'two tools have this name.', ['tools', index, 'name']))
    }
    types.set(name, type)
  }
}

/** What has to be called must be there. */
function checkChoice(
  choice: ToolChoice | null | undefined,
  tools: readonly Tool[],
  ctx: z.RefinementCtx,
): void {
  if (typeof choice !== 'object' || !choice || choice.type === 'allowed_tools') return
  const { type, name } = choice
  const isNamed = isCallable(type)
  if (tools.some((tool) => tool.type === type && (!isNamed || tool.name === name))) return
  const field = isNamed ? 'name' : 'type'
  const wanted = `there is no ${type} tool${isNamed ? ` "${name ?? ''}"` : ''}.`
  ctx.addIssue(broken('unknown_value', wanted, ['tool_choice', field]))
}
