import { describe, expect, test } from 'bun:test'
import { AccountCatalogs, emptyAccountCatalog } from './account-catalog'
import type { Membership, SharedLimits } from './member-terms'
import type { Offer, OwnedConnection, ProviderOffer } from './offer'
import { sampleConnection, sampleMembership, sampleShared } from '../../testing/catalog/samples'

const connection = (id: string, fields: Partial<OwnedConnection> = {}): OwnedConnection => ({
  ...sampleConnection({ id }),
  discovered: new Map(),
  ...fields,
})

const place = (id: string, fields: Partial<ProviderOffer> = {}): ProviderOffer => ({
  provider: 'fake',
  connections: [connection(id)],
  pool: null,
  billing: 'byok',
  organizationId: null,
  ...fields,
})

const offer = (...places: ProviderOffer[]): Offer => new Map([['fake', places]])

const membership = sampleMembership

const none: Offer = new Map()

/** Catalogues over rows of the test's making; `lookups` records each read. */
function createFixture() {
  const lookups: string[] = []
  const own = new Map<string, Offer>()
  const memberships = new Map<string, Membership[]>()
  const shared = new Map<string, Offer>()
  const funding = new Map<string, string>()
  const limits: Partial<SharedLimits> = {}
  const suspended = new Set<string>()
  const state = { isDown: false, ms: 0 }
  const answered = async <Value>(what: string, value: () => Value) => {
    lookups.push(what)
    await Promise.resolve()
    if (state.isDown) throw new Error('the database is away')
    return value()
  }
  const catalogs = new AccountCatalogs(
    {
      account: (id) =>
        answered(id, () => ({
          own: own.get(id) ?? none,
          memberships: memberships.get(id) ?? [],
          fundedBy: funding.get(id) ?? null,
        })),
      organization: (id) =>
        answered(id, () =>
          suspended.has(id) ? undefined : sampleShared(shared.get(id) ?? none, limits),
        ),
      offeredToOthers: (id, provider) => answered(`${id} ${provider}`, () => true),
    },
    { now: () => state.ms, random: () => 0.5 },
  )
  const idsOf = async (user: string) =>
    (await catalogs.of(user)).offersOf('fake').map(({ connections: [{ id }] }) => id)
  return { catalogs, lookups, own, memberships, shared, funding, limits, suspended, state, idsOf }
}

test('accounts that own nothing share one empty value, and are read once', async () => {
  const { catalogs, lookups } = createFixture()
  expect(await catalogs.of('user_1')).toBe(emptyAccountCatalog)
  expect(await catalogs.of('user_2')).toBe(emptyAccountCatalog)
  expect(catalogs.of('user_1')).toBe(emptyAccountCatalog)
  expect(lookups).toEqual(['user_1', 'user_2'])
})

test('a thousand requests at once are one reading, and the next ones wait for no promise', async () => {
  const { catalogs, lookups, own, memberships, shared } = createFixture()
  own.set('user_1', offer(place('conn_1')))
  memberships.set('user_1', [membership('org_1')])
  shared.set('org_1', offer(place('conn_2', { billing: 'org_pays', organizationId: 'org_1' })))
  await Promise.all(Array.from({ length: 1000 }, () => catalogs.of('user_1')))
  expect(lookups).toEqual(['user_1', 'org_1'])
  const catalog = catalogs.of('user_1')
  expect(catalog).not.toBeInstanceOf(Promise)
  expect(catalogs.of('user_1')).toBe(catalog)
})

test('reads the catalogue of an organization once for all of its members', async () => {
  const { catalogs, lookups, memberships, shared } = createFixture()
  shared.set('org_1', offer(place('conn_1')))
  for (const user of ['user_1', 'user_2']) memberships.set(user, [membership('org_1')])
  await catalogs.of('user_1')
  await catalogs.of('user_2')
  expect(lookups.filter((id) => id === 'org_1')).toEqual(['org_1'])
})

describe('the order of places', () => {
  test('own connections first, then the primary organization, org_pays before member_pays, then rotated', async () => {
    const { own, memberships, shared, idsOf } = createFixture()
    own.set('user_1', offer(place('conn_own')))
    memberships.set('user_1', [
      membership('org_primary', { isPrimary: true }),
      membership('org_a'),
      membership('org_b'),
    ])
    const members = { billing: 'member_pays' as const }
    const pays = { billing: 'org_pays' as const }
    const later = connection('conn_b_late', { priority: 900 })
    shared.set('org_primary', offer(place('conn_p_member', members)))
    shared.set('org_a', offer(place('conn_a_member', members), place('conn_a_pays', pays)))
    shared.set('org_b', offer(place('', { ...pays, connections: [later] })))
    expect(await idsOf('user_1')).toEqual([
      'conn_own',
      'conn_p_member',
      'conn_a_pays',
      'conn_b_late',
      'conn_a_member',
    ])
  })

  test.each([
    [{ role: 'viewer' as const }, []],
    [{ status: 'pending' as const }, []],
    [{ status: 'suspended' as const }, []],
    [{ role: 'developer' as const }, ['conn_1']],
    [{ role: 'owner' as const }, ['conn_1']],
  ])('2.4: the organization’s part of %j is %j', async (fields, ids) => {
    const { memberships, shared, idsOf } = createFixture()
    memberships.set('user_1', [membership('org_1', fields)])
    shared.set('org_1', offer(place('conn_1')))
    expect(await idsOf('user_1')).toEqual(ids)
  })
})

describe('6.2: a pool that funds an account', () => {
  test('has its connections before all others, the account’s own among them', async () => {
    const { own, memberships, shared, funding, idsOf, catalogs } = createFixture()
    own.set('user_1', offer(place('conn_own')))
    memberships.set('user_1', [membership('org_a', { isPrimary: true }), membership('org_b')])
    for (const id of ['org_a', 'org_b']) {
      const places = ['member_pays', 'org_pays'] as const
      shared.set(
        id,
        offer(
          ...places.map((billing) => place(`${id} ${billing}`, { billing, organizationId: id })),
        ),
      )
    }
    funding.set('user_1', 'org_b')
    expect(await idsOf('user_1')).toEqual([
      'org_b org_pays',
      'org_b member_pays',
      'conn_own',
      'org_a org_pays',
      'org_a member_pays',
    ])
    expect((await catalogs.of('user_1')).fundedBy).toBe('org_b')
  })

  test.each([
    ['its membership is suspended', { status: 'suspended' as const }],
    ['it may call no models there', { role: 'viewer' as const }],
  ])('is left alone where %s', async (_why, fields) => {
    const { memberships, funding, catalogs } = createFixture()
    memberships.set('user_1', [membership('org_a', fields)])
    funding.set('user_1', 'org_a')
    expect((await catalogs.of('user_1')).fundedBy).toBeNull()
  })

  test('is left alone where the organization is suspended, and then limits nothing either', async () => {
    const { memberships, funding, suspended, catalogs } = createFixture()
    memberships.set('user_1', [membership('org_a')])
    funding.set('user_1', 'org_a')
    suspended.add('org_a')
    const catalog = await catalogs.of('user_1')
    expect([catalog.fundedBy, catalog.termsIn('org_a')]).toEqual([null, undefined])
    suspended.clear()
    catalogs.invalidate('org_a')
    expect((await catalogs.of('user_1')).fundedBy).toBe('org_a')
  })
})

test('10: a member has its own limit, or the default of all members', async () => {
  const { memberships, limits, catalogs } = createFixture()
  limits.memberSpend = 7n
  memberships.set('user_1', [membership('org_a', { spendingLimit: 5n })])
  memberships.set('user_2', [membership('org_a')])
  const spendOf = async (id: string) => (await catalogs.of(id)).termsIn('org_a')?.memberSpend
  expect([await spendOf('user_1'), await spendOf('user_2')]).toEqual([5n, 7n])
})

describe('a change', () => {
  test('A08: reaches all members if it is of an organization, and only the account if it is of an account', async () => {
    const { catalogs, own, memberships, shared, idsOf } = createFixture()
    for (const user of ['user_1', 'user_2']) memberships.set(user, [membership('org_1')])
    shared.set('org_1', offer(place('conn_1')))
    expect(await idsOf('user_1')).toEqual(['conn_1'])
    shared.set('org_1', none)
    own.set('user_1', offer(place('conn_2')))
    catalogs.invalidate('org_1')
    expect(await idsOf('user_1')).toEqual([])
    catalogs.invalidate('user_1')
    expect(await idsOf('user_1')).toEqual(['conn_2'])
    expect(await idsOf('user_2')).toEqual([])
  })

  test('D13: reads everything again after a gap, and serves the last value while the database is unavailable', async () => {
    const { catalogs, own, state, idsOf } = createFixture()
    own.set('user_1', offer(place('conn_1')))
    expect(await idsOf('user_1')).toEqual(['conn_1'])
    state.isDown = true
    catalogs.invalidateAll()
    expect(await idsOf('user_1')).toEqual(['conn_1'])
    state.ms += 300_001
    await expect(idsOf('user_1')).rejects.toMatchObject({ code: 'gateway_unavailable' })
    await expect(idsOf('user_2')).rejects.toMatchObject({ code: 'gateway_unavailable' })
  })
})

test('a discovered model is a model that some connection of the account discovered', async () => {
  const { catalogs, own } = createFixture()
  const found = connection('conn_1', {
    discovered: new Map([['odd/one', { at: 7, pricing: null }]]),
  })
  own.set('user_1', offer(place('', { connections: [found] })))
  const catalog = await catalogs.of('user_1')
  const model = { id: 'fake/odd/one', provider: 'fake', name: 'odd/one', foundAt: 7, pricing: null }
  expect(catalog.find('fake', 'odd/one')).toEqual(model)
  expect(catalog.find('fake', 'other')).toBeUndefined()
  expect(catalog.listDiscovered()).toEqual([model])
})
