import { toUsage as readAnthropic } from '../../src/providers/anthropic/usage'
import { toUsage as readBedrock } from '../../src/providers/bedrock/usage'
import { toUsage as readCohere } from '../../src/providers/cohere/usage'
import { readGoogleInputUsage, readGoogleUsage } from '../../src/providers/google/usage'
import { toInputUsage } from '../../src/providers/input-usage'
import type { Provider } from '../../src/providers/provider'
import { searchesIn } from '../../src/providers/responses/searches'
import { toUsage as readResponses } from '../../src/providers/responses/usage'
import { getSurface } from '../../src/providers/vertex/address'
import { readUsage, type Usage } from '../../src/wire/usage'

/** The usage of one answer, in tokens that no other field counts. */
export interface SampleUsage {
  input: number
  cached: number
  /** Written to a cache, and written to one that keeps it for an hour. */
  write: number
  writeLong: number
  audioInput: number
  /** Sound that was read from a cache, and images. */
  cachedAudio: number
  images: number
  /** The text of the answer, and the thoughts beside it. */
  output: number
  thought: number
  audioOutput: number
  searches: number
}

/** Reads a block in which a provider reports a usage, as answers in its format are read. */
export type UsageReader = (used: SampleUsage) => Usage | undefined

const readOf = ({
  input,
  cached,
  write,
  writeLong,
  audioInput,
  cachedAudio,
  images,
}: SampleUsage) => input + cached + write + writeLong + audioInput + cachedAudio + images

const chat =
  (thoughts: 'inside' | 'outside'): UsageReader =>
  (used) => {
    const { cached, write, writeLong, audioInput, images, output, thought, audioOutput } = used
    const countedOutput = output + audioOutput + (thoughts === 'inside' ? thought : 0)
    const block = {
      prompt_tokens: readOf(used),
      completion_tokens: countedOutput,
      total_tokens: readOf(used) + output + audioOutput + thought,
      prompt_tokens_details: {
        cached_tokens: cached,
        cache_write_tokens: write + writeLong,
        cache_creation: { ephemeral_1h_input_tokens: writeLong },
        audio_tokens: audioInput,
        image_tokens: images,
      },
      completion_tokens_details: { reasoning_tokens: thought, audio_tokens: audioOutput },
    }
    return readUsage(block, thoughts)
  }

const deepseek: UsageReader = ({ input, cached, output, thought }) =>
  readUsage(
    {
      prompt_tokens: input + cached,
      prompt_cache_hit_tokens: cached,
      prompt_cache_miss_tokens: input,
      completion_tokens: output + thought,
      completion_tokens_details: { reasoning_tokens: thought },
      total_tokens: input + cached + output + thought,
    },
    'inside',
  )

const responses: UsageReader = (used) => {
  const { cached, write, output, thought, searches } = used
  const counted = readResponses({
    input_tokens: readOf(used),
    input_tokens_details: { cached_tokens: cached, cache_write_tokens: write },
    output_tokens: output + thought,
    output_tokens_details: { reasoning_tokens: thought },
    total_tokens: readOf(used) + output + thought,
  })
  // Beside the usage.
  const tools = { tool_usage: { web_search: { num_requests: searches } } }
  return counted && { ...counted, searches: searchesIn(tools) }
}

const anthropic: UsageReader = ({ input, cached, write, writeLong, output, thought, searches }) =>
  readAnthropic({
    input_tokens: input,
    cache_read_input_tokens: cached,
    cache_creation_input_tokens: write + writeLong,
    cache_creation: { ephemeral_5m_input_tokens: write, ephemeral_1h_input_tokens: writeLong },
    output_tokens: output + thought,
    output_tokens_details: { thinking_tokens: thought },
    ...(searches > 0 && { server_tool_use: { web_search_requests: searches } }),
  })

const google: UsageReader = (used) => {
  const { input, cached, audioInput, cachedAudio, output, thought, audioOutput } = used
  return readGoogleUsage({
    promptTokenCount: readOf(used),
    promptTokensDetails: [
      { modality: 'TEXT', tokenCount: input + cached },
      { modality: 'AUDIO', tokenCount: audioInput + cachedAudio },
    ],
    cachedContentTokenCount: cached + cachedAudio,
    cacheTokensDetails: [
      { modality: 'TEXT', tokenCount: cached },
      { modality: 'AUDIO', tokenCount: cachedAudio },
    ],
    candidatesTokenCount: output + audioOutput,
    thoughtsTokenCount: thought,
    totalTokenCount: readOf(used) + output + audioOutput + thought,
  })
}

const bedrock: UsageReader = ({ input, cached, write, writeLong, output, thought }) =>
  readBedrock({
    inputTokens: input,
    outputTokens: output + thought,
    cacheReadInputTokens: cached,
    cacheWriteInputTokens: write + writeLong,
    cacheDetails: [
      { ttl: '5m', inputTokens: write },
      { ttl: '1h', inputTokens: writeLong },
    ],
    totalTokens: input + cached + write + writeLong + output + thought,
  })

/** Cohere bills less than its model read. */
const cohere: UsageReader = ({ input, output, thought }) =>
  readCohere({
    billed_units: { input_tokens: input, output_tokens: output + thought },
    tokens: { input_tokens: input + 500, output_tokens: output + thought + 7 },
  })

const relayedEmbeddings: UsageReader = ({ input }) =>
  readUsage({ prompt_tokens: input, total_tokens: input }, 'inside')

const embeddings: Record<string, UsageReader> = {
  google: ({ input, images }) =>
    readGoogleInputUsage({
      promptTokenCount: input + images,
      promptTokensDetails: [{ modality: 'IMAGE', tokenCount: images }],
    }),
  cohere: ({ input, images }) => toInputUsage(input, images),
}

const translated: Record<string, UsageReader> = { anthropic, bedrock, cohere, google }

/** Returns the formats in which a provider reports a model's usage, by name. */
export function usageReadersOf(
  { key, dialect, options }: Provider,
  { upstreamModel, category }: { upstreamModel: string; category: string },
): Record<string, UsageReader> {
  const format = dialect === 'vertex' ? getSurface(upstreamModel).surface : dialect
  if (category === 'embedding') return { embeddings: embeddings[format] ?? relayedEmbeddings }
  const own = translated[format]
  if (own) return { [format]: own }
  if (key === 'deepseek') return { deepseek }
  const relayed = { chat: chat(options.reasoningTokens) }
  return options.takesResponses ? { ...relayed, responses } : relayed
}
