import { tokensRead, tokensWritten, type UsageEvent } from '../ledger/usage-event'
import type { LogValues } from '../request-logs/log-record'

type Attributes = Record<string, string | number | boolean | string[]>

/** Providers that the conventions have a name for. Source: OpenTelemetry, semantic conventions 1.38, GenAI. */
const providerNames: Readonly<Record<string, string>> = {
  azure: 'azure.ai.openai',
  bedrock: 'aws.bedrock',
  gemini: 'gcp.gemini',
  google: 'gcp.gemini',
  mistral: 'mistral_ai',
  vertex: 'gcp.vertex_ai',
  xai: 'x_ai',
}

const operationNames = {
  chat: 'chat',
  completions: 'text_completion',
  embeddings: 'embeddings',
  // The conventions have no name for these.
  moderations: 'moderations',
  rerank: 'rerank',
  images: 'images',
  speech: 'speech',
  transcriptions: 'transcriptions',
  translations: 'translations',
} as const

/** Attributes that are known as an attempt begins, and its name. They contain no text of a request or an answer. */
export function toAttemptStartSpan(event: UsageEvent): { name: string; attributes: Attributes } {
  const { provider, model, connectionId } = event
  const operation = operationNames[event.operation]
  const upstreamModel = model.startsWith(`${provider}/`) ? model.slice(provider.length + 1) : model
  return {
    name: `${operation} ${upstreamModel}`,
    attributes: {
      'gen_ai.operation.name': operation,
      'gen_ai.provider.name': providerNames[provider] ?? provider,
      'gen_ai.request.model': upstreamModel,
      'tollgate.attempt_id': event.id,
      ...(connectionId !== null && { 'tollgate.connection_id': connectionId }),
    },
  }
}

/** Attributes of an attempt's result. */
export function toAttemptEndSpan({
  tokens,
  outcome,
  reason,
  cost,
  estimated,
}: UsageEvent): Attributes {
  const failure = outcome === 'failed_over' ? (reason ?? outcome) : outcome
  const written = tokens.cacheWrite + tokens.cacheWriteLong
  return {
    'gen_ai.usage.input_tokens': tokensRead(tokens),
    'gen_ai.usage.output_tokens': tokensWritten(tokens),
    ...(tokens.cachedInput > 0 && { 'gen_ai.usage.cache_read.input_tokens': tokens.cachedInput }),
    ...(written > 0 && { 'gen_ai.usage.cache_creation.input_tokens': written }),
    'tollgate.usage_estimated': estimated,
    'tollgate.cost_usd': Number(cost) / 1e9,
    ...(outcome !== 'ok' && { 'error.type': failure }),
  }
}

/** Attributes of a request's result. The requested name is included only where it turned out to be a model. */
export function toRequestEndSpan(values: LogValues, event: UsageEvent | undefined): Attributes {
  return {
    'enduser.id': values.userId,
    'tollgate.key_id': values.keyId,
    'tollgate.streamed': values.streamed,
    ...(values.error && { 'error.type': values.error.code }),
    ...(values.status === 'cancelled' && { 'error.type': 'cancelled' }),
    ...(values.finishReason !== null && {
      'gen_ai.response.finish_reasons': [values.finishReason],
    }),
    ...(values.firstTokenMs !== null && {
      'gen_ai.response.time_to_first_chunk': values.firstTokenMs / 1000,
    }),
    ...(event && {
      'gen_ai.operation.name': operationNames[event.operation],
      'gen_ai.request.model': values.requestedModel,
      'gen_ai.response.model': event.model,
      'gen_ai.usage.input_tokens': values.inputTokens,
      'gen_ai.usage.output_tokens': values.outputTokens,
      'tollgate.cost_usd': Number(values.cost) / 1e9,
    }),
  }
}
