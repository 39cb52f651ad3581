import { describe, expect, test } from 'bun:test'
import { LocalRotation } from './collection-rotation'
import { MemberStats } from './member-stats'
import { findOfferedModels } from './offered-models'
import { AccountCatalogs, emptyAccountCatalog } from '../catalog/account-catalog'
import { AccountNames } from '../catalog/account-names'
import { Mappings } from '../catalog/mapping'
import type { Model } from '../catalog/model'
import { sampleOpen } from '../../testing/catalog/samples'
import { toSnapshot, type ProviderConnection } from '../catalog/snapshot'
import { providers } from '../providers/registry'

const [provider] = providers.filter(({ key }) => key === 'openai')
if (!provider) throw new Error('the registry has changed')

const modelOf = (name: string): Model => ({
  id: `openai/${name}`,
  provider: 'openai',
  name,
  upstreamModel: name,
  category: 'chat',
  contextLength: null,
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
  pricing: { input: 1n, output: 1n },
  isFree: name === 'gift',
  enabled: true,
  createdAt: 0,
  deprecatedAt: null,
  dimensions: null,
  simulated: false,
})

const connection: ProviderConnection = {
  id: 'conn_1',
  provider: 'openai',
  name: 'ours',
  owner: null,
  baseUrl: 'https://api.example',
  secret: null,
  options: {},
  network: null,
  headers: null,
  priority: 100,
  isDefault: false,
  isFailing: false,
  rpm: null,
  tpm: null,
  imagesPerMinute: null,
  audioSecondsPerMinute: null,
  gatewayId: null,
  onlyModels: null,
}

const snapshot = toSnapshot({
  models: ['one', 'two', 'gift'].map(modelOf),
  providers: [provider],
  connections: [connection],
})

const never = () => Promise.reject(new Error('no provider may be called'))

/** What a caller with these mappings, and nothing else, would pay by, for each model. */
async function modes(mappings: Record<string, string>) {
  const lookups: string[] = []
  const names = new AccountNames({
    mappings: async () =>
      new Mappings(
        Object.entries(mappings).map(([source, target]) => ({
          id: source,
          source,
          target,
          priority: 1,
        })),
      ),
    collections: async () =>
      new Map([
        [
          'mine',
          {
            id: 'coll_1',
            name: 'mine',
            scope: 'individual' as const,
            strategy: 'priority' as const,
            members: [{ modelId: 'openai/gift', priority: 1, weight: 1 }],
            createdAt: 0,
          },
        ],
      ]),
    owner: async (name) => {
      lookups.push(name)
      return name === 'others' ? { userId: 'user_2' } : undefined
    },
  })
  const offered = await findOfferedModels(
    {
      snapshot,
      caller: { userId: 'user_1', accountId: 'user_1', catalog: emptyAccountCatalog },
      open: sampleOpen,
    },
    {
      accounts: new AccountCatalogs({
        account: never,
        organization: never,
        offeredToOthers: never,
      }),
      names,
      stats: new MemberStats(),
      rotation: new LocalRotation(),
      random: () => 0,
    },
  )
  const found = await Promise.all(
    offered.all.map(
      async (model) => [model.name, (await offered.billingOf(model))?.mode ?? null] as const,
    ),
  )
  const byName: Record<string, string | null> = Object.fromEntries(found)
  return { modes: byName, lookups }
}

describe('the payer of a call by a model’s name', () => {
  test.each([
    ['as the model itself', {}, { one: 'platform', two: 'platform', gift: 'free' }],
    [
      'as the target of a mapping',
      { 'openai/one': 'openai/gift', 'openai/two': 'openai/none' },
      { one: 'free', two: null, gift: 'free' },
    ],
    [
      'as the collection that it becomes',
      { 'openai/one': 'collection/mine', 'openai/two': 'collection/none' },
      { one: 'free', two: null, gift: 'free' },
    ],
    [
      'not at all on the connections of another account',
      { 'openai/one': 'others/openai/one', 'openai/two': 'nobodys/openai/two' },
      { one: null, two: null, gift: 'free' },
    ],
    ['not at all by an invalid name', { 'openai/*': '$1' }, { one: null, two: null, gift: null }],
  ])('%s', async (...[, mappings, expected]) => {
    expect((await modes(mappings)).modes).toEqual(expected)
  })

  test('a handle is looked up once for all models', async () => {
    expect((await modes({ 'openai/*': 'others/openai/$1' })).lookups).toEqual(['others'])
  })
})
