import type { Membership, Shared } from '../../src/catalog/member-terms'
import type { Model } from '../../src/catalog/model'
import type { Offer } from '../../src/catalog/offer'
import type { ProviderConnection } from '../../src/catalog/snapshot'
import type { Provider } from '../../src/providers/provider'
import { RelayOptions } from '../../src/providers/provider'

/** Builds rows for unit tests, each complete, so that a test names only the fields it is about. */
export const sampleModel = (fields: Partial<Model> = {}): Model => ({
  id: 'fake/one',
  provider: 'fake',
  name: 'One',
  upstreamModel: 'one',
  category: 'chat',
  contextLength: 1000,
  maxInputTokens: null,
  maxOutputTokens: 400,
  capabilities: {
    vision: false,
    audio: false,
    tools: false,
    reasoning: false,
    streaming: true,
    json_mode: false,
    json_schema: false,
  },
  pricing: { input: 1n, output: 2n },
  isFree: false,
  enabled: true,
  createdAt: 1_700_000_000,
  deprecatedAt: null,
  dimensions: null,
  simulated: false,
  ...fields,
})

export const sampleProvider = (fields: Partial<Provider> = {}): Provider => ({
  key: 'fake',
  name: 'Fake',
  dialect: 'openai',
  baseUrl: 'https://api.fake.example/v1',
  variables: {},
  authHeader: 'authorization',
  keyless: false,
  keyVariables: ['FAKE_API_KEY'],
  embeddings: 'no',
  abort: 'unknown',
  website: null,
  options: RelayOptions.parse({}),
  ...fields,
})

export const sampleConnection = (fields: Partial<ProviderConnection> = {}): ProviderConnection => ({
  id: 'conn_1',
  provider: 'fake',
  name: 'fake',
  baseUrl: null,
  secret: 'sk-fake',
  options: {},
  network: null,
  headers: null,
  priority: 100,
  owner: null,
  isDefault: false,
  isFailing: false,
  rpm: null,
  tpm: null,
  imagesPerMinute: null,
  audioSecondsPerMinute: null,
  gatewayId: null,
  onlyModels: null,
  ...fields,
})

export const sampleMembership = (
  organizationId: string,
  fields: Partial<Membership> = {},
): Membership => ({
  organizationId,
  role: 'member',
  status: 'active',
  isPrimary: false,
  spendingLimit: null,
  ...fields,
})

/** A sample of an organization's offer and limits. */
export const sampleShared = (offer: Offer, fields: Partial<Shared['limits']> = {}): Shared => ({
  offer,
  limits: {
    requestsPerMinute: 60,
    tokensPerMinute: 100_000,
    imagesPerMinute: null,
    audioSecondsPerMinute: null,
    maxConcurrentRequests: 10,
    monthlyRequests: null,
    monthlySpend: null,
    memberSpend: null,
    budgets: [],
    ...fields,
  },
})

/** A sample of an operator's policy: everything is allowed, and owners' prices up to 1,000 USD. */
export const sampleOpen = {
  platformConnections: true,
  bareModelNames: false,
  unpricedModels: 'refuse' as const,
  ownerPriceLimits: { input: 1_000_000_000_000n, output: 1_000_000_000_000n },
}
