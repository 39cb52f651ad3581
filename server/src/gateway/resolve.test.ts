import { expect, test } from 'bun:test'
import { resolveModel } from './resolve'
import type { Principal } from '../auth/principal'
import { AccountCatalog, AccountCatalogs, emptyAccountCatalog } from '../catalog/account-catalog'
import { AccountNames } from '../catalog/account-names'
import { Mappings } from '../catalog/mapping'
import type { Category } from '../catalog/model'
import type { OwnedConnection, ProviderOffer } from '../catalog/offer'
import {
  sampleConnection,
  sampleModel,
  sampleOpen,
  sampleProvider,
} from '../../testing/catalog/samples'
import { toSnapshot } from '../catalog/snapshot'
import { MemberStats } from '../routing/member-stats'
import { PoolRotation } from '../routing/pool-rotation'

const open = { ...sampleOpen, unansweredRequests: 'charge' as const }

const model = sampleModel({ id: 'fake/one' })
const snapshotOf = (id: string) =>
  toSnapshot({
    models: [model, ...['two', 'three', 'four', 'five'].map((name) => named(name))],
    providers: [sampleProvider()],
    connections: [sampleConnection({ id })],
  })
const named = (name: string) => sampleModel({ id: `fake/${name}`, name })

const principal: Principal = {
  keyId: 'key_1',
  keyPrefix: 'tg_1',
  userId: 'user_1',
  accountId: 'user_1',
  permissions: ['write'],
  expiresAtMs: null,
  endsAtMs: null,
  limits: {
    requests: [],
    tokens: [],
    images: [],
    audioSeconds: [],
    running: [],
    windows: [],
    filtered: [],
    budgetTags: [],
  },
  logBodies: false,
  disabledUntilMs: null,
  accessLists: null,
}

/** A connection of the caller's own, or several in a pool that take turns. */
function ownOf(first: string, ...others: readonly string[]): AccountCatalog {
  const place: ProviderOffer = {
    provider: 'fake',
    connections: [owned(first), ...others.map(owned)],
    pool: others.length > 0 ? { id: 'pool_1', strategy: 'round_robin' } : null,
    billing: 'byok',
    organizationId: null,
  }
  return new AccountCatalog(new Map([['fake', [place]]]))
}

const owned = (id: string): OwnedConnection => ({
  ...sampleConnection({ id, owner: 'user_1' }),
  discovered: new Map(),
})

const nothingMuch = { needs: [], misfit: () => undefined, promptTokens: () => 0 }
const chat: readonly Category[] = ['chat']
const unknown = () => Promise.reject(new Error('no provider may be called'))

/** What is known of a caller, all of which may change between two requests. */
function createFixture() {
  const known = { own: emptyAccountCatalog, mappings: new Mappings([]), mayWait: false }
  const accounts = new AccountCatalogs({
    account: unknown,
    organization: unknown,
    offeredToOthers: unknown,
  })
  accounts.of = () => (known.mayWait ? Promise.resolve(known.own) : known.own)
  const names = new AccountNames({ mappings: unknown, collections: unknown, owner: unknown })
  names.mappingsOf = () => known.mappings
  const ports = {
    catalog: { snapshot: snapshotOf('conn_1') },
    settings: { current: open },
    rotation: new PoolRotation(() => 0),
    routing: {
      accounts,
      names,
      stats: new MemberStats(),
      rotation: { take: () => 0 },
      random: () => 0,
    },
  }
  const ask = (name = 'fake/one', only?: string, kinds = chat) => {
    return resolveModel({ name, kinds, demands: nothingMuch, only }, principal, ports)
  }
  const idsOf = async (name?: string, only?: string) =>
    (await ask(name, only)).candidates.map(({ connection }) => connection.id)
  return { known, ports, ask, idsOf }
}

test('a name is resolved once, as long as nothing changes that it follows from', async () => {
  const { ask } = createFixture()
  const first = await ask()
  expect(await ask()).toBe(first)
  expect(await ask('fake/two')).not.toBe(first)
})

test('a change counts for the next request: the catalogue, the caller’s own, mappings, settings', async () => {
  const { known, ports, idsOf, ask } = createFixture()
  expect(await idsOf()).toEqual(['conn_1'])
  ports.catalog = { snapshot: snapshotOf('conn_2') }
  expect(await idsOf()).toEqual(['conn_2'])
  known.own = ownOf('conn_own')
  expect(await idsOf()).toEqual(['conn_own', 'conn_2'])
  ports.settings = { current: { ...open, platformConnections: false } }
  expect(await idsOf()).toEqual(['conn_own'])
  const mapping = { id: 'map_1', source: 'fake/one', target: 'fake/two', priority: 1 }
  known.mappings = new Mappings([mapping])
  expect((await ask()).model.id).toBe('fake/two')
})

test('an endpoint for another kind of model judges for itself', async () => {
  const { ask } = createFixture()
  await ask()
  expect(() => ask('fake/one', undefined, ['embedding'])).toThrow('a model for chat')
})

test('connections that take turns do', async () => {
  const { known, idsOf } = createFixture()
  known.own = ownOf('conn_a', 'conn_b')
  const [one] = await idsOf()
  const [other] = await idsOf()
  expect(new Set([one, other])).toEqual(new Set(['conn_a', 'conn_b']))
})

test('a connection requested by its id is used for that request only', async () => {
  const { known, idsOf } = createFixture()
  known.own = ownOf('conn_own')
  expect(await idsOf()).toEqual(['conn_own', 'conn_1'])
  expect(await idsOf('fake/one', 'conn_1')).toEqual(['conn_1'])
  expect(await idsOf()).toEqual(['conn_own', 'conn_1'])
})

test('an account that has to be looked up is waited for', async () => {
  const { known, idsOf } = createFixture()
  known.mayWait = true
  known.own = ownOf('conn_own')
  expect(await idsOf()).toEqual(['conn_own', 'conn_1'])
})

test('only a few names of a key are remembered', async () => {
  const { ask } = createFixture()
  const first = await ask()
  for (const name of ['two', 'three', 'four', 'five']) await ask(`fake/${name}`)
  expect(await ask()).not.toBe(first)
  expect(await ask()).toEqual(first)
})
