import { expect, test } from 'bun:test'
import { LocalRotation } from './collection-rotation'
import { MemberStats } from './member-stats'
import { findOfferedModels } from './offered-models'
import { AccountCatalogs, emptyAccountCatalog } from '../catalog/account-catalog'
import { AccountNames } from '../catalog/account-names'
import { loadBuiltInModels, readBuiltInCatalog } from '../catalog/built-in'
import { flagships } from '../../testing/catalog/flagships'
import { createEnvironmentConnections } from '../catalog/from-environment'
import { Mappings } from '../catalog/mapping'
import { sampleOpen } from '../../testing/catalog/samples'
import { toSnapshot } from '../catalog/snapshot'
import { providers } from '../providers/registry'

const models = loadBuiltInModels(providers, new Date(`${readBuiltInCatalog().date} 12:00Z`))

const never = () => Promise.reject(new Error('no provider may be called'))

const routing = () => ({
  accounts: new AccountCatalogs({ account: never, organization: never, offeredToOthers: never }),
  names: new AccountNames({
    mappings: async () => new Mappings([]),
    collections: async () => new Map(),
    owner: async () => undefined,
  }),
  stats: new MemberStats(),
  rotation: new LocalRotation(),
  random: () => 0,
})

/** What an account that brings nothing of its own can call, where the operator has set this alone. */
async function offeredWith(environment: Readonly<Record<string, string>>) {
  const connections = createEnvironmentConnections(environment, providers)
  const offered = await findOfferedModels(
    {
      snapshot: toSnapshot({ models, providers, connections }),
      caller: { userId: 'user_1', accountId: 'user_1', catalog: emptyAccountCatalog },
      open: sampleOpen,
    },
    routing(),
  )
  return { connections, offered, callable: await offered.findCallable() }
}

test.each(flagships)('finding P2: $id is callable with its provider’s key alone', async (one) => {
  const provider = one.id.slice(0, one.id.indexOf('/'))
  const { connections, offered, callable } = await offeredWith(one.environment)
  const made = connections.filter((connection) => connection.provider !== 'sandbox')
  expect(made.map((connection) => connection.provider)).toEqual([provider])
  expect(made[0]?.baseUrl).toStartWith('https://')
  const model = callable.find(({ id }) => id === one.id)
  expect(model).toBeDefined()
  // The hosted endpoints of NVIDIA cost nothing.
  expect(model?.isFree).toBe(provider === 'nvidia')
  if (provider !== 'nvidia') expect(model?.pricing?.output).toBeGreaterThan(0n)
  expect(model && (await offered.billingOf(model))?.mode).toBe(
    provider === 'nvidia' ? 'free' : 'platform',
  )
})

test('finding P2: without any key only the sandbox is callable', async () => {
  const { callable } = await offeredWith({})
  expect([...new Set(callable.map(({ provider }) => provider))]).toEqual(['sandbox'])
})
