import { isOwn } from './tools'
import type { CountRequest, MessagesRequest, MessagesTool } from './schema'
import { isObject, type JsonObject } from '../../wire/json-body'

/** Fields that a chat request can carry, or that are refused for models of other providers. */
const translated: ReadonlySet<string> = new Set([
  'model',
  'messages',
  'system',
  'max_tokens',
  'temperature',
  'top_p',
  'stop_sequences',
  'stream',
  'tools',
  'tool_choice',
  'thinking',
  'output_config',
  'output_format',
  'metadata',
  'cache_control',
  'mcp_servers',
  'container',
  'thread',
  'compaction',
  'billing_policy',
  'inference_geo',
])

/** Values that request the default behaviour. */
const defaults: ReadonlyMap<string, readonly unknown[]> = new Map([
  ['service_tier', ['auto', 'standard_only']],
  ['speed', ['standard']],
])

/** Parts of fields that are translated. */
const translatedFields: Readonly<Record<string, readonly string[]>> = {
  output_config: ['effort', 'format'],
  metadata: ['user_id'],
}

/** Types of thinking that an effort, or its absence, stands for. */
const thinkingTypes: ReadonlySet<string> = new Set(['adaptive', 'disabled', 'enabled'])

/** Fields of a tool that tune features without counterpart in a chat request. */
const toolTuning = ['input_examples', 'defer_loading', 'allowed_callers', 'eager_input_streaming']

const isUsed = (value: unknown): boolean => {
  if (value === undefined || value === null || value === false || value === '') return false
  if (Array.isArray(value)) return value.length > 0
  return !isObject(value) || Object.values(value).some(isUsed)
}

/** The fields of a request that a model of another provider than Anthropic answers without. */
export function findOmittedFields(request: MessagesRequest | CountRequest): string[] {
  const omitted = Object.keys(request).filter(
    (name) =>
      !translated.has(name) &&
      isUsed(request[name]) &&
      !defaults.get(name)?.includes(request[name]),
  )
  for (const [field, parts] of Object.entries(translatedFields)) {
    const value = request[field]
    if (!isObject(value)) continue
    const omittedFields = Object.keys(value).filter(
      (name) => !parts.includes(name) && isUsed(value[name]),
    )
    omitted.push(...omittedFields.map((name) => `${field}.${name}`))
  }
  const { thinking } = request
  if (thinking && !thinkingTypes.has(thinking.type)) omitted.push('thinking')
  const tools = request.tools ?? []
  return [...omitted, ...tools.flatMap((tool, index) => omittedOf(tool, `tools.${index}`))]
}

/** Tools that Anthropic runs or defines are left out beside others. */
function omittedOf(tool: MessagesTool, path: string): string[] {
  if (!isOwn(tool)) return [`${path}.type`]
  return toolTuning.filter((name) => isTuned(tool, name)).map((name) => `${path}.${name}`)
}

/** Tools are called by the model itself unless that is not among their callers. */
function isTuned(tool: JsonObject, name: string): boolean {
  const value = tool[name]
  if (name === 'allowed_callers' && Array.isArray(value)) return !value.includes('direct')
  return isUsed(value)
}

/** A field of the chat request as it is called here. */
export function toCallerField(param: string): string {
  switch (param) {
    case 'stop':
      return 'stop_sequences'
    case 'user':
      return 'metadata.user_id'
    case 'reasoning_effort':
      return 'thinking'
    case 'response_format':
      return 'output_config.format'
    case 'parallel_tool_calls':
      return 'tool_choice.disable_parallel_tool_use'
    default:
      return param
  }
}
