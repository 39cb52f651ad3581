import { onlyAnthropic, type Refuse } from './content'
import { toChatMessages } from './conversation'
import type { CountRequest, MessagesRequest } from './schema'
import { toToolFields } from './tools'
import type { JsonObject } from '../../wire/json-body'
import { toEffort } from '../../wire/reasoning-field'

/** Fields whose features run, store, summarize or bill at Anthropic. */
const foreignFields = [
  'mcp_servers',
  'container',
  'thread',
  'compaction',
  'billing_policy',
] as const

/** The maximum of stop sequences in OpenAI's format. */
const maxStops = 4

/**
 * Returns the chat request that stands in for a request for a message. `refuse` receives the features that
 * only Anthropic supports; fields that only tune an answer are left out: see `omitted-fields.ts`.
 */
export function toChatRequest(request: MessagesRequest | CountRequest, refuse: Refuse): JsonObject {
  const { model, max_tokens, temperature, top_p, stream, metadata, cache_control } = request
  for (const name of foreignFields) {
    if (isUsed(request[name])) refuse(onlyAnthropic(name, 'not supported by this model.'))
  }
  const { inference_geo: region } = request
  if (isUsed(region) && region !== 'global') {
    refuse(onlyAnthropic('inference_geo', 'the region of this model cannot be chosen.'))
  }
  const effort = effortOf(request)
  return {
    model,
    messages: toChatMessages(request, refuse),
    ...(max_tokens && { max_tokens }),
    ...(typeof temperature === 'number' && { temperature }),
    ...(typeof top_p === 'number' && { top_p }),
    ...stopFields(request, refuse),
    ...toToolFields(request, refuse),
    ...(effort && { reasoning_effort: effort }),
    ...formatFields(request),
    ...(metadata?.user_id && { user: metadata.user_id }),
    ...(cache_control && { cache_control }),
    ...(stream && { stream, stream_options: { include_usage: true } }),
  }
}

const isUsed = (value: unknown) => Boolean(value) && !(Array.isArray(value) && value.length === 0)

function stopFields({ stop_sequences: stops }: CountRequest, refuse: Refuse): JsonObject {
  if (!stops || stops.length === 0) return {}
  if (stops.length > maxStops) {
    refuse(onlyAnthropic('stop_sequences', `this model accepts at most ${maxStops}.`))
  }
  return { stop: stops.slice(0, maxStops) }
}

/** A budget in tokens, or an effort, as a level. Source: contract 5.1. */
function effortOf({ thinking, output_config: config }: CountRequest): string | undefined {
  if (thinking?.type === 'disabled') return undefined
  if (config?.effort) return config.effort
  if (thinking?.type === 'adaptive') return 'medium'
  const budget = thinking?.budget_tokens
  return thinking?.type === 'enabled' && budget ? toEffort(budget) : undefined
}

function formatFields({ output_config: config, output_format }: CountRequest): JsonObject {
  const format = config?.format ?? output_format
  if (!format) return {}
  const json_schema = { name: 'answer', schema: format.schema, strict: true }
  return { response_format: { type: 'json_schema', json_schema } }
}
