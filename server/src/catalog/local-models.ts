import type { Model } from './model'
import type { SnapshotRows } from './snapshot'
import type { ConnectionOptions } from '../providers/connection-options'

/** It keeps caches apart by their salt. https://docs.vllm.ai/en/latest/design/prefix_caching/ */
const ofVllm: ConnectionOptions = { identifiers: ['cache_salt'] }

/** A server on this machine, with its models. */
export interface DiscoveredServer {
  server: string
  baseUrl: string
  keyVariable?: string
  models: readonly { id: string; contextLength?: number }[]
}

/**
 * Builds the models of local servers, offered as `local/<model>`; of two servers with the same model the first one
 * serves it.
 */
export function toLocalModels(
  servers: readonly DiscoveredServer[],
  environment: Readonly<Record<string, string | undefined>>,
): Omit<SnapshotRows, 'providers'> {
  const models = new Map<string, Model>()
  const connections = servers.map((server, position) => {
    const offered = server.models.filter(({ id }) => !models.has(`local/${id}`))
    for (const model of offered) models.set(`local/${model.id}`, toModel(model, server.server))
    return {
      id: `conn_local_${server.server}`,
      provider: 'local',
      name: server.server,
      baseUrl: server.baseUrl,
      options: server.server === 'vllm' ? ofVllm : {},
      network: null,
      headers: null,
      secret: (server.keyVariable && environment[server.keyVariable]) || null,
      priority: 100 + position,
      owner: null,
      isDefault: false,
      isFailing: false,
      rpm: null,
      tpm: null,
      imagesPerMinute: null,
      audioSecondsPerMinute: null,
      gatewayId: null,
      onlyModels: new Set(offered.map(({ id }) => `local/${id}`)),
    }
  })
  return { models: [...models.values()], connections }
}

const looksLikeEmbedding = /embed|bge-|e5-|gte-|minilm/i

const toModel = (
  { id, contextLength }: { id: string; contextLength?: number },
  server: string,
): Model => ({
  id: `local/${id}`,
  provider: 'local',
  name: `${id} (${server})`,
  upstreamModel: id,
  category: looksLikeEmbedding.test(id) ? 'embedding' : 'chat',
  contextLength: contextLength ?? null,
  maxInputTokens: null,
  maxOutputTokens: null,
  capabilities: {
    vision: false,
    audio: false,
    tools: true,
    reasoning: false,
    streaming: true,
    json_mode: true,
    json_schema: true,
  },
  // The operator's own machine is free of charge: an explicit zero, not an absent price.
  pricing: { input: 0n, output: 0n },
  isFree: true,
  enabled: true,
  createdAt: 0,
  deprecatedAt: null,
  dimensions: null,
  simulated: false,
})
