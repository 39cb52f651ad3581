import { describe, expect, test } from 'bun:test'
import { candidatesOf, findModel } from './candidate'
import type { Model } from '../catalog/model'
import { sampleConnection, sampleModel, sampleProvider } from '../catalog/samples'
import { toSnapshot, type Connection } from '../catalog/snapshot'
import { ApiError } from '../errors'

const snapshotOf = (models: Model[], connections: Connection[] = []) =>
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
    expect(findModel(snapshot, 'fake/one', ['chat'])).toBe(chat)
  })

  test.each(['one', '/one', 'fake/', 'FAKE/one', ''])('"%s" is no name of a model', (id) => {
    const { code, param, status } = refusal(() => findModel(snapshot, id, ['chat']))
    expect([status, code, param]).toEqual([400, 'invalid_model', 'model'])
  })

  test.each(['fake/One', 'fake/two', 'gone/one', 'fake/hidden'])('%s is not there', (id) => {
    const { code, param, status } = refusal(() => findModel(snapshot, id, ['chat']))
    expect([status, code, param]).toEqual([404, 'model_not_found', 'model'])
  })

  test('a model that is hidden answers in the words of one that never was', () => {
    const [hidden, absent] = ['fake/hidden', 'fake/absent'].map(
      (id) => refusal(() => findModel(snapshot, id, ['chat'])).message,
    )
    expect(hidden?.replace('hidden', 'absent')).toBe(absent ?? '')
  })

  test('a model of another kind is refused by the kind it has', () => {
    const { code, message, details } = refusal(() => findModel(snapshot, 'fake/one', ['embedding']))
    expect([code, details]).toEqual(['invalid_request', { issue: 'unsupported_by_model' }])
    expect(message).toContain('chat')
  })
})

const open = { platformConnections: true, payer: 'user_1' }

/** The connections that may serve a model, of these. */
const idsOf = (model: Model, connections: Connection[]) =>
  candidatesOf(snapshotOf([model], connections), model, open).map(({ connection }) => connection.id)

describe('the connections that may serve a model', () => {
  test('are those of its provider, in their order', () => {
    const connections = [
      sampleConnection({ id: 'conn_b', priority: 2 }),
      sampleConnection({ id: 'conn_a', priority: 1 }),
      sampleConnection({ id: 'conn_c', provider: 'other' }),
    ]
    expect(idsOf(sampleModel(), connections)).toEqual(['conn_a', 'conn_b'])
  })

  test('one that is known to serve certain models only serves no other', () => {
    const connections = [
      sampleConnection({ id: 'conn_a', onlyModels: new Set(['fake/two']) }),
      sampleConnection({ id: 'conn_b', onlyModels: new Set(['fake/one']) }),
    ]
    expect(idsOf(sampleModel(), connections)).toEqual(['conn_b'])
  })

  test('an unknown price is not a price of zero: such a model is refused, a free one is not', () => {
    const unpriced = sampleModel({ pricing: null })
    const snapshot = snapshotOf([unpriced], [sampleConnection()])
    const { code, message, details } = refusal(() => candidatesOf(snapshot, unpriced, open))
    expect([code, details]).toEqual(['model_access_denied', { model: 'fake/one' }])
    expect(message).toContain('no price')
    expect(idsOf(sampleModel({ pricing: null, isFree: true }), [sampleConnection()])).toHaveLength(
      1,
    )
  })

  test('where there is none, the model is denied, and the provider named', () => {
    const model = sampleModel()
    const { status, code, param, message } = refusal(() =>
      candidatesOf(snapshotOf([model]), model, open),
    )
    expect([status, code, param]).toEqual([403, 'model_access_denied', 'model'])
    expect(message).toContain('Fake')
  })

  test('where those of the platform are closed, none serves', () => {
    const model = sampleModel()
    const closed = { platformConnections: false, payer: 'user_1' }
    const snapshot = snapshotOf([model], [sampleConnection()])
    expect(refusal(() => candidatesOf(snapshot, model, closed)).code).toBe('model_access_denied')
  })
})
