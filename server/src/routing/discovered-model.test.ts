import { describe, expect, test } from 'bun:test'
import { findCandidates, findModel, type RoutingCaller } from './candidate'
import { PoolRotation } from './pool-rotation'
import { AccountCatalog } from '../catalog/account-catalog'
import type { Model, Pricing } from '../catalog/model'
import type { OwnedConnection } from '../catalog/offer'
import {
  sampleConnection,
  sampleModel,
  sampleOpen,
  sampleProvider,
} from '../../testing/catalog/samples'
import { toSnapshot, type ProviderConnection } from '../catalog/snapshot'

const snapshotOf = (models: Model[], connections: ProviderConnection[] = []) =>
  toSnapshot({ models, providers: [sampleProvider()], connections })

const having = (
  id: string,
  discovered: OwnedConnection['discovered'] = new Map(),
): OwnedConnection => ({
  ...sampleConnection({ id, owner: 'user_1' }),
  discovered,
})

/** What a connection has found, at a price. */
const at = (pricing: Pricing | null) => new Map([['new', { at: 7, pricing }]])

/** An account with these connections of its own. */
function callerWith(...connections: OwnedConnection[]): RoutingCaller {
  const places = connections.map((connection) => ({
    provider: 'fake',
    connections: [connection] as const,
    pool: null,
    billing: 'byok' as const,
    organizationId: null,
  }))
  const catalog = new AccountCatalog(new Map([['fake', places]]))
  return { userId: 'user_1', accountId: 'user_1', catalog }
}

describe('a model that the catalogue has not', () => {
  const finder = having('conn_b', at(null))
  const caller = callerWith(having('conn_a'), finder)
  const snapshot = snapshotOf([sampleModel()], [sampleConnection({ id: 'conn_platform' })])

  test('is supported at the endpoint, free, and without a size', () => {
    for (const kind of ['chat', 'embedding'] as const) {
      const model = findModel({ snapshot, catalog: caller.catalog, open: sampleOpen }, 'fake/new', [
        kind,
      ])
      expect(model).toMatchObject({
        id: 'fake/new',
        upstreamModel: 'new',
        category: kind,
        contextLength: null,
        maxOutputTokens: null,
        isFree: true,
      })
    }
  })

  test('is served by the connection that discovered it, not by the platform', () => {
    const model = findModel({ snapshot, catalog: caller.catalog, open: sampleOpen }, 'fake/new', [
      'chat',
    ])
    const context = { snapshot, caller, rotation: new PoolRotation(), open: sampleOpen }
    expect(findCandidates(model, context).map(({ connection }) => connection.id)).toEqual([
      'conn_b',
    ])
  })

  test('costs the price of each connection’s owner, up to the operator’s maximum', () => {
    const cheap = { input: 1n, output: 2n }
    const dear = { input: 5n, output: 50n }
    const three = callerWith(having('a', at(cheap)), having('b', at(dear)), having('c', at(null)))
    const open = { ...sampleOpen, ownerPriceLimits: { input: 10n, output: 20n } }
    const model = findModel({ snapshot, catalog: three.catalog, open }, 'fake/new', ['chat'])
    expect([model.isFree, model.pricing]).toEqual([false, cheap])
    const context = { snapshot, caller: three, rotation: new PoolRotation(), open }
    const seen = findCandidates(model, context).map((one) => [one.model.pricing, one.billing.mode])
    expect(seen).toEqual([
      [cheap, 'byok'],
      [{ input: 5n, output: 20n }, 'byok'],
      [null, 'free'],
    ])
    const off = { ...context, open: { ...open, ownerPriceLimits: { input: 10n, output: 0n } } }
    expect(findCandidates(model, off).map(({ billing }) => billing.mode)).toEqual([
      'free',
      'free',
      'free',
    ])
  })

  test.each(['fake/other', 'elsewhere/new'])(
    'does not resolve %s, which no connection discovered',
    (id) => {
      expect(() =>
        findModel({ snapshot, catalog: caller.catalog, open: sampleOpen }, id, ['chat']),
      ).toThrow(expect.objectContaining({ code: 'model_not_found' }))
    },
  )

  test('is hidden by one of the catalogue, also by a disabled one', () => {
    const hidden = snapshotOf([sampleModel({ id: 'fake/new', enabled: false })])
    expect(() =>
      findModel({ snapshot: hidden, catalog: caller.catalog, open: sampleOpen }, 'fake/new', [
        'chat',
      ]),
    ).toThrow(expect.objectContaining({ code: 'model_not_found' }))
  })
})
