import { describe, expect, test } from 'bun:test'
import { resolve } from './resolve-model'
import type { RoutingContext } from './candidate'
import { MemberStats } from './member-stats'
import { PoolRotation } from './pool-rotation'
import { AccountCatalog, AccountCatalogs, emptyAccountCatalog } from '../catalog/account-catalog'
import { AccountNames } from '../catalog/account-names'
import type { Collection } from '../catalog/collection'
import { accessListsWith } from '../../testing/auth/access-lists'
import { Mappings } from '../catalog/mapping'
import type { Category } from '../catalog/model'
import { findNearNames } from '../catalog/near-names'
import type { ProviderOffer } from '../catalog/offer'
import { toSnapshot } from '../catalog/snapshot'
import { expectApiError } from '../errors'
import {
  sampleConnection,
  sampleModel,
  sampleOpen,
  sampleProvider,
} from '../../testing/catalog/samples'

const model = (id: string, fields: Parameters<typeof sampleModel>[0] = {}) =>
  sampleModel({ id, provider: id.slice(0, id.indexOf('/')), name: id, ...fields })

const providers = ['openai', 'anthropic', 'azure', 'openrouter', 'groq', 'gone']

const snapshot = toSnapshot({
  providers: providers.map((key) => sampleProvider({ key, name: key })),
  models: [
    model('openai/gpt-4o-mini'),
    model('openai/gpt-4o'),
    model('openai/text-embedding-3-small', { category: 'embedding' }),
    model('openai/gpt-hidden', { enabled: false }),
    model('anthropic/claude-sonnet-4-5-20250929'),
    model('azure/gpt-4o-mini'),
    model('openrouter/openai/gpt-4o-mini'),
    model('groq/llama-3.3-70b-versatile'),
    model('gone/phi-4-reasoning'),
  ],
  connections: providers
    .filter((key) => key !== 'gone')
    .map((provider) => sampleConnection({ id: `conn_${provider}`, provider })),
})

const collection: Collection = {
  id: 'coll_1',
  name: 'our-fast-ones',
  scope: 'individual',
  strategy: 'priority',
  members: [{ modelId: 'groq/llama-3.3-70b-versatile', priority: 1, weight: 1 }],
  createdAt: 1,
}

interface Asked {
  kinds?: readonly Category[]
  allowedModels?: readonly string[]
  catalog?: AccountCatalog
  mappings?: Mappings
  collections?: () => Promise<Map<string, Collection>>
}

const unknown = () => Promise.reject(new Error('not looked up'))
const demands = { needs: [], misfit: () => undefined, promptTokens: () => 0 }

const mapped = (source: string, target: string) =>
  new Mappings([{ id: 'map_1', source, target, priority: 1 }])

/** The names in the refusal of a call for a name. */
async function suggestionsFor(name: string, asked: Asked = {}): Promise<string[]> {
  const { kinds = ['chat'], allowedModels, catalog = emptyAccountCatalog } = asked
  const names = new AccountNames({
    mappings: async () => asked.mappings ?? new Mappings([]),
    collections: asked.collections ?? (async () => new Map([[collection.name, collection]])),
    owner: async () => undefined,
  })
  const context: RoutingContext = {
    snapshot,
    caller: {
      userId: 'user_1',
      accountId: 'user_1',
      catalog,
      accessLists: allowedModels ? accessListsWith({ allowed_models: allowedModels }) : null,
    },
    open: sampleOpen,
    rotation: new PoolRotation(),
  }
  const routing = {
    accounts: new AccountCatalogs({
      account: unknown,
      organization: unknown,
      offeredToOthers: unknown,
    }),
    names,
    stats: new MemberStats(),
    rotation: { take: () => 0 },
    random: () => 0,
  }
  try {
    await resolve({ name, kinds, demands, context }, routing)
  } catch (thrown) {
    const { code, message } = expectApiError(thrown)
    expect(code).toMatch(/^(invalid_model|model_not_found)$/)
    const asks = message.slice(message.indexOf(' Did you mean '))
    return asks.startsWith(' Did') ? [...asks.matchAll(/"([^"]+)"/g)].map(([, id = '']) => id) : []
  }
  throw new Error(`${name} was found`)
}

describe('finding N16: the rejection of an unknown name suggests the likely ones', () => {
  test.each<[string, string[]]>([
    // Bare names: the maker first, then those that serve others' models.
    ['gpt-4o-mini', ['openai/gpt-4o-mini', 'azure/gpt-4o-mini', 'openrouter/openai/gpt-4o-mini']],
    ['gpt-4o', ['openai/gpt-4o']],
    ['GPT-4o', ['openai/gpt-4o']],
    ['claude-sonnet-4-5', ['anthropic/claude-sonnet-4-5-20250929']],
    ['claude-sonnet-4.5-latest', ['anthropic/claude-sonnet-4-5-20250929']],
    ['gpt-4o-2024-08-06', ['openai/gpt-4o']],
    // Another provider's key, or one that is none.
    ['anthropic/gpt-4o', ['openai/gpt-4o']],
    ['OpenAI/gpt-4o', ['openai/gpt-4o']],
    ['opanai/gpt-4o', ['openai/gpt-4o']],
    ['litellm/openai/gpt-4o', ['openai/gpt-4o']],
    ['models/gpt-4o', ['openai/gpt-4o']],
    // Letters: the named provider's model first.
    ['openai/gtp-4o', ['openai/gpt-4o']],
    [
      'azure/gpt-4o-mni',
      ['azure/gpt-4o-mini', 'openai/gpt-4o-mini', 'openrouter/openai/gpt-4o-mini'],
    ],
    ['groq/lama-3.3-70b-versatil', ['groq/llama-3.3-70b-versatile']],
    // Collections are names as well.
    ['our-fast-ones', ['collection/our-fast-ones']],
    ['collection/our-fast-one', ['collection/our-fast-ones']],
    // What is like no name.
    ['gpt', []],
    ['nothing-of-the-kind', []],
    ['', []],
    ['x/', []],
  ])('%p: %p', async (name, expected) => {
    expect(await suggestionsFor(name)).toEqual(expected)
  })

  test('only names that this caller may call at this endpoint', async () => {
    expect(await suggestionsFor('phi-4-reasoning')).toEqual([])
    expect(await suggestionsFor('gpt-hidden')).toEqual([])
    expect(await suggestionsFor('text-embedding-3-small')).toEqual([])
    expect(await suggestionsFor('gpt-4o', { kinds: ['embedding'] })).toEqual([])
    expect(await suggestionsFor('our-fast-ones', { kinds: ['embedding'] })).toEqual([])
    expect(await suggestionsFor('text-embedding-3-small', { kinds: ['embedding'] })).toEqual([
      'openai/text-embedding-3-small',
    ])
    const allowedModels = ['azure/*']
    expect(await suggestionsFor('gpt-4o-mini', { allowedModels })).toEqual(['azure/gpt-4o-mini'])
    expect(await suggestionsFor('our-fast-ones', { allowedModels })).toEqual([])
  })

  test('models that only the caller’s own connections have', async () => {
    const discovered = new Map([['qwen2.5-coder', { at: 1, pricing: null }]])
    const connection = {
      ...sampleConnection({ id: 'own', provider: 'gone', owner: 'user_1' }),
      discovered,
    }
    const offer: ProviderOffer = {
      provider: 'gone',
      connections: [connection],
      pool: null,
      billing: 'byok',
      organizationId: null,
    }
    const catalog = new AccountCatalog(new Map([['gone', [offer]]]))
    expect(await suggestionsFor('qwen2.5-coder', { catalog })).toEqual(['gone/qwen2.5-coder'])
    expect(await suggestionsFor('gone/qwen2.5-codr', { catalog })).toEqual(['gone/qwen2.5-coder'])
    expect(await suggestionsFor('qwen2.5-coder')).toEqual([])
  })

  test('no name that a mapping of the caller sends elsewhere; the target of a mapping counts as the name', async () => {
    const mappings = mapped('openai/*', 'elsewhere/$1')
    expect(await suggestionsFor('gpt-4o', { mappings })).toEqual([])
    expect(await suggestionsFor('fast', { mappings: mapped('fast', 'gpt-4o') })).toEqual([
      'openai/gpt-4o',
    ])
  })

  test('the error stays the same where the database does not answer', async () => {
    expect(await suggestionsFor('our-fast-ones', { collections: unknown })).toEqual([])
  })
})

test('finding N16: a name of any length and letters is compared in bounded time', () => {
  const models = Array.from({ length: 5000 }, (_, at) => model(`openai/model-${at}-of-many`))
  const many = toSnapshot({
    providers: [sampleProvider({ key: 'openai' })],
    models,
    connections: [],
  })
  let compared = 0
  for (const name of [
    'a'.repeat(256),
    'model-1-of-manny',
    '/'.repeat(256),
    '-\u0000\n'.repeat(80),
  ]) {
    for (const group of findNearNames(name, many, [])) compared += group.length
  }
  expect(compared).toBeLessThan(5000)
})
