import { z } from 'zod'
import { isDrawn } from './drawn-item'
import { ResponsesItem } from './items'
import { ItemHistory } from './messages'
import { storedFields, type ResponsesRequest } from './request'
import { toChosenTools } from './tool-choice'
import type { CallerTool } from './tool-kinds'
import { ToolSet, type OnRefusal } from './tool-set'
import { expectApiError, invalidRequest, type ApiError } from '../../errors'
import { toFieldError } from '../../wire/field-error'
import { effort, maybe, text } from '../../wire/fields'
import { isReference } from '../../wire/item-reference'
import { check, type JsonObject } from '../../wire/json-body'

/** The chat request that stands in for a request for a Response. */
export interface ChatTranslation {
  chat: JsonObject
  /** The caller's tools by the names of the functions that stand for them. */
  tools: ReadonlyMap<string, CallerTool>
  /** The positions of tools that the answer is made without. */
  omitted: readonly string[]
  /** Why a provider of another format cannot answer it. */
  refusal: ApiError | undefined
}

/** Fields that mean the same in a chat request. */
const shared = [
  'model',
  'temperature',
  'top_p',
  'parallel_tool_calls',
  'user',
  'safety_identifier',
  'prompt_cache_key',
  'prompt_cache_retention',
  'service_tier',
] as const

/** Fields of features that only OpenAI has. */
const foreignFields = [
  'moderation',
  'access_programs',
  'context_management',
  'top_logprobs',
] as const

const storedFieldMessages: Readonly<Record<(typeof storedFields)[number], string>> = {
  previous_response_id:
    'no stored response with this id: it was not stored, was deleted, or has expired.',
  conversation: 'no conversation with this id. POST /v1/conversations creates one.',
  prompt: 'prompts stored at OpenAI are available to OpenAI models only.',
}

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

/** The form that the answer must have, in the terms of chat. */
const Style = z.looseObject({
  text: maybe(
    z.looseObject({
      format: maybe(Format),
      verbosity: maybe(z.enum(['low', 'medium', 'high'])),
    }),
  ),
  reasoning: maybe(z.looseObject({ effort: maybe(effort) })),
})
type Style = z.output<typeof Style>

/**
 * Translates a request into a chat request; `refusal` holds the error for features without counterpart in
 * chat, and something stands in for them.
 */
export function toChat(request: ResponsesRequest): ChatTranslation {
  let refusal: ApiError | undefined
  const refuse = (error: ApiError) => {
    refusal ??= error
  }
  refuseForeign(request, refuse)
  const tools = new ToolSet(refuse)
  tools.add(request.tools, 'tools')
  const items = toItems(request.input, refuse)
  for (const { item, param } of items) {
    if (item && 'tools' in item) tools.add(item.tools, `${param}.tools`)
  }
  const chosenTools = toChosenTools(tools, request.tool_choice)
  if (chosenTools.refusal) refuse(chosenTools.refusal)
  const messages = toMessages(request, { items, tools, refuse })
  const { max_output_tokens: limit, stream } = request
  const same = shared.flatMap((name) => {
    const value = request[name]
    return value === undefined || value === null ? [] : [[name, value]]
  })
  const chat = {
    ...Object.fromEntries(same),
    messages,
    ...(typeof limit === 'number' && { max_completion_tokens: limit }),
    ...chosenTools.fields,
    ...toStyle(request, { items, refuse }),
    ...(stream && { stream, stream_options: { include_usage: true } }),
  }
  return { chat, tools: tools.byFunction, omitted: chosenTools.omitted, refusal }
}

const isRequested = (value: unknown): boolean =>
  Boolean(value) && !(Array.isArray(value) && value.length === 0)

function refuseForeign(request: ResponsesRequest, refuse: OnRefusal): void {
  for (const field of storedFields) {
    if (!isRequested(request[field])) continue
    const message = `${field}: ${storedFieldMessages[field]}`
    refuse(invalidRequest(field, 'not_allowed', message))
  }
  for (const field of foreignFields) {
    if (!isRequested(request[field])) continue
    const message = `${field}: supported by OpenAI models only.`
    refuse(invalidRequest(field, 'unsupported_by_model', message))
  }
}

interface AcceptedItem {
  /** Undefined for an item that cannot be translated. */
  item: ResponsesItem | undefined
  source: JsonObject
  param: string
}

function toItems(input: ResponsesRequest['input'], refuse: OnRefusal): AcceptedItem[] {
  if (!Array.isArray(input)) return []
  return input.map((source, index) => {
    const param = `input.${index}`
    if (isDrawn(source)) return { item: undefined, source, param }
    const read = ResponsesItem.safeParse(source)
    if (read.success) return { item: read.data, source, param }
    refuse(refusalOf(source, index, read.error))
    return { item: undefined, source, param }
  })
}

/** Items that OpenAI alone can read, or that it keeps. */
const foreignItems =
  /^(computer_call|file_search_call|code_interpreter_call|image_generation_call|mcp_|program|compaction)/

function refusalOf(source: JsonObject, index: number, error: z.core.$ZodError): ApiError {
  const { type } = source
  const field = `input.${index}`
  if (isReference(source)) {
    return invalidRequest(
      field,
      'not_allowed',
      `${field}: no stored item with this id: its response was not stored, was deleted, or has expired. Send the item itself.`,
    )
  }
  if (typeof type === 'string' && foreignItems.test(type)) {
    const message = `${field}.type: "${type}" items are supported by OpenAI models only.`
    return invalidRequest(`${field}.type`, 'unsupported_by_model', message)
  }
  const issues = error.issues.map((issue) => ({ ...issue, path: ['input', index, ...issue.path] }))
  return toFieldError(new z.core.$ZodError(issues), { input: { [index]: source } })
}

interface ChatContext {
  items: readonly AcceptedItem[]
  tools: ToolSet
  refuse: OnRefusal
}

function toMessages(
  request: ResponsesRequest,
  { items, tools, refuse }: ChatContext,
): JsonObject[] {
  const { instructions, input } = request
  const history = new ItemHistory((tool) => tools.functionFor(tool))
  if (instructions) history.add({ role: 'system', content: instructions }, 'instructions')
  if (typeof input === 'string') history.add({ role: 'user', content: input }, 'input')
  for (const { item, source, param } of items) {
    try {
      if (item) history.add(item, param)
      else if (isDrawn(source)) history.addDrawn(source)
      else history.addForeign(source)
    } catch (thrown) {
      refuse(expectApiError(thrown))
      history.addForeign(source)
    }
  }
  const messages = history.messages()
  if (messages.length > 0) return messages
  refuse(invalidRequest('input', 'empty', 'input: contains no text or other content.'))
  return [{ role: 'user', content: '' }]
}

/** Translates the settings of the answer, those of the request and those that items give later. */
function toStyle(
  request: ResponsesRequest,
  { items, refuse }: Pick<ChatContext, 'items' | 'refuse'>,
): JsonObject {
  const updates = items.flatMap(({ item }) => (item?.type === 'configuration_update' ? [item] : []))
  const style: Style = {}
  for (const source of [request, ...updates]) {
    try {
      const { text: textSettings, reasoning } = check(Style, source)
      if (textSettings) style.text = { ...style.text, ...textSettings }
      if (reasoning) style.reasoning = { ...style.reasoning, ...reasoning }
    } catch (thrown) {
      refuse(expectApiError(thrown))
    }
  }
  const format = toFormat(style.text?.format)
  return {
    ...(format && { response_format: format }),
    ...(style.text?.verbosity && { verbosity: style.text.verbosity }),
    ...(style.reasoning?.effort && { reasoning_effort: style.reasoning.effort }),
  }
}

function toFormat(format: z.output<typeof Format> | null | undefined): JsonObject | undefined {
  if (!format || format.type === 'text') return undefined
  if (format.type === 'json_object') return { type: 'json_object' }
  const { name, schema, strict, description } = format
  return {
    type: 'json_schema',
    json_schema: {
      name,
      ...(description && { description }),
      schema,
      ...(typeof strict === 'boolean' && { strict }),
    },
  }
}
