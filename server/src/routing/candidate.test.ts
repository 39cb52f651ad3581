import { describe, expect, test } from 'bun:test'
import {
  findCandidates,
  explainNoCandidates,
  findModel,
  type RoutingCaller,
  type Candidate,
} from './candidate'
import { PoolRotation } from './pool-rotation'
import { AccountCatalog, emptyAccountCatalog } from '../catalog/account-catalog'
import type { Model } from '../catalog/model'
import type { OwnedConnection, ProviderOffer } from '../catalog/offer'
import {
  sampleConnection,
  sampleMembership,
  sampleModel,
  sampleOpen,
  sampleProvider,
  sampleShared,
} from '../../testing/catalog/samples'
import { toSnapshot, type ProviderConnection } from '../catalog/snapshot'
import { ApiError } from '../errors'

const snapshotOf = (models: Model[], connections: ProviderConnection[] = []) =>
  toSnapshot({ models, providers: [sampleProvider()], connections })

/** The error that something throws. */
function refusal(action: () => unknown): ApiError {
  try {
    action()
  } catch (thrown) {
    if (thrown instanceof ApiError) return thrown
  }
  throw new Error('nothing was refused')
}

describe('the model that a name means', () => {
  const chat = sampleModel()
  const hidden = sampleModel({ id: 'fake/hidden', enabled: false })
  const snapshot = snapshotOf([chat, hidden])

  test('is found by its very name', () => {
    expect(
      findModel({ snapshot, catalog: emptyAccountCatalog, open: sampleOpen }, 'fake/one', ['chat']),
    ).toBe(chat)
  })

  test.each(['one', '/one', 'fake/', 'FAKE/one', ''])('"%s" is not a model name', (id) => {
    const { code, param, status } = refusal(() =>
      findModel({ snapshot, catalog: emptyAccountCatalog, open: sampleOpen }, id, ['chat']),
    )
    expect([status, code, param]).toEqual([400, 'invalid_model', 'model'])
  })

  test.each(['fake/One', 'fake/two', 'gone/one', 'fake/hidden'])('%s does not exist', (id) => {
    const { code, param, status } = refusal(() =>
      findModel({ snapshot, catalog: emptyAccountCatalog, open: sampleOpen }, id, ['chat']),
    )
    expect([status, code, param]).toEqual([404, 'model_not_found', 'model'])
  })

  test('a hidden model answers like an unknown one', () => {
    const [hidden, absent] = ['fake/hidden', 'fake/absent'].map(
      (id) =>
        refusal(() =>
          findModel({ snapshot, catalog: emptyAccountCatalog, open: sampleOpen }, id, ['chat']),
        ).message,
    )
    expect(hidden?.replace('hidden', 'absent')).toBe(absent ?? '')
  })

  test('a model of another kind is rejected by the kind it has', () => {
    const { code, message, details } = refusal(() =>
      findModel({ snapshot, catalog: emptyAccountCatalog, open: sampleOpen }, 'fake/one', [
        'embedding',
      ]),
    )
    expect([code, details]).toEqual(['invalid_request', { issue: 'unsupported_by_model' }])
    expect(message).toContain('chat')
  })
})

const owned = (id: string, fields: Partial<OwnedConnection> = {}): OwnedConnection => ({
  ...sampleConnection({ id, owner: 'user_1' }),
  discovered: new Map(),
  ...fields,
})

const place = (
  connection: OwnedConnection,
  fields: Partial<ProviderOffer> = {},
): ProviderOffer => ({
  provider: 'fake',
  connections: [connection],
  pool: null,
  billing: 'byok',
  organizationId: null,
  ...fields,
})

interface Given {
  own?: ProviderOffer[]
  shared?: ProviderOffer[]
  platform?: ProviderConnection[]
  isOpen?: boolean
  fundedBy?: string | null
  only?: string
}

const callerOf = ({ own = [], shared = [], fundedBy = null }: Given): RoutingCaller => {
  const catalog = new AccountCatalog(
    own.length > 0 ? new Map([['fake', own]]) : new Map(),
    shared.length > 0 || fundedBy !== null
      ? [sampleMembership('org_1', { spendingLimit: 5n })]
      : [],
    { shared: new Map([['org_1', sampleShared(new Map([['fake', shared]]))]]), fundedBy },
  )
  return { userId: 'user_1', accountId: 'user_1', catalog }
}

/** The connections that may serve a model, of these, and who pays for each. */
function candidates(model: Model, given: Given, listed = [model]) {
  const { platform = [], isOpen = true, only } = given
  return findCandidates(model, {
    snapshot: snapshotOf(listed, platform),
    caller: callerOf(given),
    open: { ...sampleOpen, platformConnections: isOpen },
    rotation: new PoolRotation(),
    only,
  })
}

const paidBy = ({ connection, billing: { mode, payer, organizationId } }: Candidate) => [
  connection.id,
  { mode, payer, organizationId },
]

const idsOf = (model: Model, given: Given) =>
  candidates(model, given).map(({ connection }) => connection.id)

describe('the connections that may serve a model', () => {
  test('are the connections of its provider, in their order', () => {
    const platform = [
      sampleConnection({ id: 'conn_b', priority: 2 }),
      sampleConnection({ id: 'conn_a', priority: 1 }),
      sampleConnection({ id: 'conn_c', provider: 'other' }),
    ]
    expect(idsOf(sampleModel(), { platform })).toEqual(['conn_a', 'conn_b'])
  })

  test('a connection limited to certain models serves no other', () => {
    const platform = [
      sampleConnection({ id: 'conn_a', onlyModels: new Set(['fake/two']) }),
      sampleConnection({ id: 'conn_b', onlyModels: new Set(['fake/one']) }),
    ]
    expect(idsOf(sampleModel(), { platform })).toEqual(['conn_b'])
  })

  test('are exactly the requested one, or none, if the request names one', () => {
    const given = {
      own: [place(owned('conn_own'))],
      platform: [sampleConnection({ id: 'conn_a' })],
    }
    for (const only of ['conn_own', 'conn_a']) {
      expect(idsOf(sampleModel(), { ...given, only })).toEqual([only])
    }
    expect(idsOf(sampleModel(), { ...given, only: 'conn_other' })).toEqual([])
  })

  test('an unknown price is not a price of zero: the platform serves no such model, but a free one', () => {
    const platform = [sampleConnection()]
    expect(idsOf(sampleModel({ pricing: null }), { platform })).toEqual([])
    expect(idsOf(sampleModel({ pricing: null, isFree: true }), { platform })).toHaveLength(1)
  })

  test('without the platform’s connections, only customers have some', () => {
    const given = { platform: [sampleConnection()], isOpen: false }
    expect(idsOf(sampleModel(), given)).toEqual([])
    expect(idsOf(sampleModel(), { ...given, own: [place(owned('conn_own'))] })).toEqual([
      'conn_own',
    ])
  })

  test('21.1: are the caller’s own, then the organizations’, then the platform’s; each has its payer', () => {
    const shared = { organizationId: 'org_1' }
    const found = candidates(sampleModel(), {
      own: [place(owned('conn_own'))],
      shared: [
        place(owned('conn_pays'), { ...shared, billing: 'org_pays' }),
        place(owned('conn_member'), { ...shared, billing: 'member_pays' }),
      ],
      platform: [sampleConnection({ id: 'conn_platform' })],
    })
    expect(found.map(paidBy)).toEqual([
      ['conn_own', { mode: 'byok', payer: 'user_1', organizationId: null }],
      ['conn_pays', { mode: 'org_pays', payer: 'org_1', organizationId: 'org_1' }],
      ['conn_member', { mode: 'member_pays', payer: 'user_1', organizationId: 'org_1' }],
      ['conn_platform', { mode: 'platform', payer: 'user_1', organizationId: null }],
    ])
  })

  test('21.3: a pool that funds the caller pays the platform’s, and its connections come first, under its terms', () => {
    const found = candidates(sampleModel(), {
      own: [place(owned('conn_own'))],
      shared: [place(owned('conn_pays'), { organizationId: 'org_1', billing: 'org_pays' })],
      platform: [sampleConnection({ id: 'conn_platform' })],
      fundedBy: 'org_1',
    })
    expect(found.map(paidBy)).toEqual([
      ['conn_pays', { mode: 'org_pays', payer: 'org_1', organizationId: 'org_1' }],
      ['conn_own', { mode: 'byok', payer: 'user_1', organizationId: null }],
      ['conn_platform', { mode: 'platform', payer: 'org_1', organizationId: 'org_1' }],
    ])
    const limited = { organizationId: 'org_1', requestsPerMinute: 60, memberSpend: 5n }
    expect(found.map(({ billing }) => billing.terms)).toMatchObject([limited, undefined, limited])
  })

  test('21.3: a free model of the platform has no payer, and does not count for the pool', () => {
    const free = sampleModel({ isFree: true })
    const [found] = candidates(free, { platform: [sampleConnection()], fundedBy: 'org_1' })
    expect(found?.billing).toEqual({ mode: 'free', payer: null, organizationId: null })
  })

  test('6.2: an account that is no longer an active member pays for itself', () => {
    const given = { platform: [sampleConnection()], fundedBy: 'org_2' }
    const [found] = candidates(sampleModel(), given)
    expect(found?.billing).toMatchObject({ payer: 'user_1', organizationId: null })
  })

  test('serves a model without a price only by connections whose owner pays the provider', () => {
    const unpriced = sampleModel({ pricing: null })
    const shared = [
      place(owned('conn_member'), { organizationId: 'org_1', billing: 'member_pays' }),
      place(owned('conn_pays'), { organizationId: 'org_1', billing: 'org_pays' }),
    ]
    const given = { own: [place(owned('conn_own'))], shared, platform: [sampleConnection()] }
    expect(idsOf(unpriced, given)).toEqual(['conn_own', 'conn_pays'])
  })

  test('21.3: a free model has no payer, on every connection', () => {
    const free = sampleModel({ isFree: true })
    const given = { own: [place(owned('conn_own'))], platform: [sampleConnection()] }
    expect(candidates(free, given).map(({ billing }) => [billing.mode, billing.payer])).toEqual([
      ['free', null],
      ['free', null],
    ])
  })
})

describe('the reason for no candidate', () => {
  const model = sampleModel()
  const denial = (isOffered: boolean, denied = model) =>
    explainNoCandidates(
      denied,
      { snapshot: snapshotOf([denied]), caller: callerOf({}) },
      { isOfferedToOthers: async () => isOffered },
    )

  test('the model is denied, and the provider named', async () => {
    const { status, code, param, message, details } = await denial(false)
    expect([status, code, param]).toEqual([403, 'model_access_denied', 'model'])
    expect(details).toEqual({ model: 'fake/one' })
    expect(message).toContain('Fake')
  })

  test('a model without a price', async () => {
    expect((await denial(false, sampleModel({ pricing: null }))).message).toContain('no price')
  })

  test('a model that an organization offers to its members', async () => {
    const { status, code } = await denial(true)
    expect([status, code]).toEqual([403, 'organization_required'])
  })
})
