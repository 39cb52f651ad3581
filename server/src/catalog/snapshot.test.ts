import { expect, test } from 'bun:test'
import { sampleConnection, sampleModel, sampleProvider } from '../../testing/catalog/samples'
import { toSnapshot } from './snapshot'

const providers = [sampleProvider(), sampleProvider({ key: 'zeta', name: 'Zeta' })]

test('a model that is added later replaces the one of the same name', () => {
  const models = [sampleModel({ contextLength: 1 }), sampleModel({ contextLength: 2 })]
  const snapshot = toSnapshot({ models, providers, connections: [] })
  expect([...snapshot.models.values()].map(({ contextLength }) => contextLength)).toEqual([2])
})

test('a provider that is added later replaces the one of the same key', () => {
  const both = [sampleProvider({ name: 'built in' }), sampleProvider({ name: 'own' })]
  const snapshot = toSnapshot({ models: [], providers: both, connections: [] })
  expect(snapshot.providers.get('fake')?.name).toBe('own')
})

test('a model without its provider is absent', () => {
  const models = [sampleModel(), sampleModel({ id: 'gone/two', provider: 'gone' })]
  const { models: known } = toSnapshot({ models, providers, connections: [] })
  expect([...known.keys()]).toEqual(['fake/one'])
})

test('models are in one order, for any order of arrival', () => {
  const ids = ['zeta/a', 'fake/b', 'fake/a', 'fake/B']
  const models = ids.map((id) => sampleModel({ id, provider: id.split('/')[0] ?? '' }))
  const snapshot = toSnapshot({ models, providers, connections: [] })
  const other = toSnapshot({ models: models.toReversed(), providers, connections: [] })
  expect([...snapshot.models.keys()]).toEqual(['fake/B', 'fake/a', 'fake/b', 'zeta/a'])
  expect([...other.models.keys()]).toEqual([...snapshot.models.keys()])
})

test('the default is tried first, then the lowest priority, then the oldest', () => {
  const connections = [
    sampleConnection({ id: 'conn_4', priority: 7 }),
    sampleConnection({ id: 'conn_2', priority: 5 }),
    sampleConnection({ id: 'conn_1', priority: 5 }),
    sampleConnection({ id: 'conn_9', priority: 900, isDefault: true }),
    sampleConnection({ id: 'conn_0', priority: 100 }),
    sampleConnection({ id: 'conn_5', provider: 'zeta' }),
  ]
  const snapshot = toSnapshot({ models: [], providers, connections })
  const order = (key: string) => snapshot.connections.get(key)?.map(({ id }) => id)
  expect(order('fake')).toEqual(['conn_9', 'conn_1', 'conn_2', 'conn_4', 'conn_0'])
  expect(order('zeta')).toEqual(['conn_5'])
})

test.each([
  [{ region: 'cn-north-1' }, null, 'https://bedrock-runtime.cn-north-1.amazonaws.com.cn'],
  [{ region: 'eu-west-1' }, 'https://vpce.example', 'https://vpce.example'],
  [{}, null, null],
])('a connection with %j at %p is reached at %p', (options, baseUrl, reached) => {
  const provider = sampleProvider({ dialect: 'bedrock' })
  const connection = sampleConnection({ options, baseUrl })
  const { connections } = toSnapshot({
    models: [],
    providers: [provider],
    connections: [connection],
  })
  expect(connections.get('fake')?.[0]?.baseUrl).toBe(reached)
})
